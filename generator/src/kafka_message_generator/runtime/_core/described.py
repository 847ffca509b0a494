"""Docstrings of messages and structs: a line per field, with its first release if ``history`` is present."""

from __future__ import annotations

import json
import sys

from .optional import optional
from .versions import with_noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def message_of(cls: type[Any]) -> Any:
    for base in getattr(cls, "__mro__", ()):  # any object is accepted
        for each in (base, *vars(sys.modules.get(base.__module__, object)).values()):
            if isinstance(each, type) and each.__module__ == base.__module__ and "_plan" in vars(each):
                return each
    return None


def docstring(cls: type[Any], text: str) -> str:
    owner = message_of(cls)
    if owner is None:
        return text
    descriptor = json.loads(owner._descriptor)
    structs = {descriptor["name"]: descriptor["fields"], **descriptor.get("structs", {})}
    history = _history(owner.NAME)
    younger = {} if history is None else _younger(history, owner.NAME, structs, cls.__name__)
    fields = [line for each in structs.get(cls.__name__, ()) for line in _lines(each, younger.get(each["name"]))]
    releases = history.describe_lifetimes(owner.NAME) if history is not None and cls.__name__ == owner.NAME else []
    blocks = [("Releases of Kafka:", [f"    {each}" for each in releases])] if len(releases) > 1 else []
    blocks += [("Fields:", fields)] if fields else []
    # Slow to import, and rarely needed.
    from inspect import cleandoc

    return "\n\n".join([cleandoc(text), *("\n".join([title, *lines]) for title, lines in blocks)]) if blocks else text


def _history(message: str) -> Any:
    history = optional("history")
    return history if history is not None and message in history.RUNS else None


def _younger(history: Any, message: str, structs: dict[str, Any], struct: str) -> dict[str, str]:
    found: dict[str, str] = {}
    releases, first = history.fields_since(message), history.since(message)
    for above in _places(structs, message, struct, ""):
        for field in structs[struct]:
            release = releases[f"{above}{field['name']}"]
            if release is not None:  # shared structs: the earliest release counts
                known = found.setdefault(field["name"], release)
                found[field["name"]] = min(known, release, key=history.RELEASES.index)
    return {name: release for name, release in found.items() if release != first}


def _places(structs: dict[str, Any], owner: str, struct: str, above: str) -> Iterator[str]:
    if owner == struct:
        yield above
    for field in structs.get(owner, ()):
        yield from _places(structs, field["type"].removeprefix("[]"), struct, f"{above}{field['name']}.")


def _lines(field: dict[str, Any], since: str | None) -> list[str]:
    words = [
        field["type"],
        *([field["enumeration"]] if "enumeration" in field else []),
        with_noun(field["versions"]),
    ]
    if "nullableVersions" in field:
        words.append(f"null in {with_noun(field['nullableVersions'])}")
    if "taggedVersions" in field:
        words.append(f"tag {field['tag']} in {with_noun(field['taggedVersions'])}")
    if since is not None:
        words.append(f"since Kafka {since}")
    about = field.get("about")
    return [f"    {field['name']}: {', '.join(words)}", *([f"        {about}"] if about else [])]
