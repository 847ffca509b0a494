"""A broken definition and its expected problems."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.specs import field, text

# Properties of a request without API key, which needs no response.
ASK: dict[str, object] = {"name": "AskRequest", "type": "request"}


# Known properties in the error about an unknown property of a field.
KNOWN_OF_FIELDS = (
    "about, default, elementEncoding, encoding, entityType, fields, flexibleVersions, ignorable, mapKey, name, "
    "nullableVersions, optionalFields, tag, taggedVersions, type, versions, zeroCopy"
)
KNOWN_OF_MESSAGES = (
    "about, apiKey, commonStructs, deprecatedVersions, fields, flexibleVersions, headerVersions, "
    "latestVersionUnstable, listeners, name, optionalFields, taggedFieldFormat, type, validVersions, "
    "versionsWithOptional"
)
KNOWN_OF_STRUCTS = "about, deprecatedVersions, fields, name, optionalFields, versions"


class Case:
    """Definitions by file name, and every expected problem as printed."""

    def __init__(self, name: str, definition: str | Mapping[str, str], *lines: str) -> None:
        self.name = name
        self.files = {"Test.json": definition} if isinstance(definition, str) else dict(definition)
        # Lines about a single definition are written without its name, which is the same everywhere.
        self.lines = [f"Test.json:{line}" for line in lines] if isinstance(definition, str) else list(lines)


def sub(name: str, *fields: object, type: str = "Sub", versions: str = "0+", **more: object) -> dict[str, object]:
    """Return a field of a struct type with an inline struct."""
    return field(name, type, versions, fields=list(fields), **more)


def common(name: str, *fields: object) -> dict[str, object]:
    """Return a common struct of all versions."""
    return {"name": name, "versions": "0+", "fields": list(fields)}


def request(name: str = "AskRequest") -> str:
    return text(field("A"), name=name, type="request", apiKey=1)


def response() -> str:
    return text(field("A"), name="AskResponse", type="response", apiKey=1)
