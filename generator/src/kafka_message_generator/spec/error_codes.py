"""Readers of ``SOURCE`` (the Kafka release of the definitions) and ``errors.json`` (its error codes)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import ERRORS, SOURCE, read
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Problems

_RELEASE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})*(-?rc[0-9]{1,9})?")
_ERROR_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class ErrorCode:
    name: str
    code: int
    retriable: bool
    refresh: bool = False  # whether to refresh the metadata before a retry
    about: str = ""


def read_release(specs: Path, problems: Problems) -> str | None:
    """Return the Kafka release in ``SOURCE``, or None."""
    return next(iter(read(specs, SOURCE, problems, _release)), None)


def _release(properties: Properties) -> str | None:
    release = properties.required("release")
    properties.known |= properties.members.keys()  # documentation only
    if not _RELEASE.fullmatch(release):
        what = f"release {release!r} cannot be the version of a package; write for example 4.4.0 or 4.4.0-rc1"
        properties.problems.error(properties.places["release"], what)
        return None
    return release


def read_error_codes(specs: Path, problems: Problems) -> tuple[ErrorCode, ...]:
    """Return the error codes of ``errors.json``, sorted by code."""
    codes: dict[int, ErrorCode] = {}

    def parse(properties: Properties) -> ErrorCode | None:
        code = _error_code(properties)
        earlier = code and codes.setdefault(code.code, code)
        if code and earlier and earlier.name != code.name:
            what = f"error code {code.name} has code {code.code}, already used by {earlier.name}"
            problems.error(properties.node.location, f"{what}; choose another")
        return code

    read(specs, ERRORS, problems, parse)
    return tuple(code for _, code in sorted(codes.items()))


def _error_code(properties: Properties) -> ErrorCode | None:
    name, problems = properties.required("name"), properties.problems
    if not _ERROR_NAME.fullmatch(name):
        what = f"invalid name {name!r} of an error code; use capitals, digits and underscores"
        problems.error(properties.places["name"], what)
    code = properties.integer("code", 16)
    if code is None and "code" not in properties.places:
        problems.error(properties.node.location, f"{properties.what} has no code; add its number")
    retriable = properties.take("retriable")
    if retriable is None:
        problems.error(properties.node.location, f"{properties.what} has no retriable; add true or false")
    elif not isinstance(retriable.value, bool):
        properties.wrong(retriable, "true or false")
    refresh, about = properties.boolean("refreshMetadata"), properties.text("about")
    if code is None or retriable is None:
        return None
    return ErrorCode(name, code, retriable.value is True, refresh, about or "")
