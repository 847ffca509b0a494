"""Docstrings of messages and structs with a line for each field, made of the definition when somebody asks."""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .structs import StructBase


def owner_of(cls: type[StructBase]) -> Any:
    """The message class whose definition a class is in: its own module's; None where there is none."""
    for base in cls.__mro__:
        for each in vars(sys.modules.get(base.__module__, object)).values():
            if isinstance(each, type) and each.__dict__.get("NAME") and getattr(each, "_facts", ""):
                return each
    return None


def docstring(cls: type[StructBase], text: str) -> str:
    """``text``, and behind it the fields of a class."""
    owner = owner_of(cls)
    if owner is None:
        return text
    facts = json.loads(owner._facts)
    structs = {facts["name"]: facts["fields"], **facts.get("structs", {})}
    lines = [line for field in structs.get(cls.__name__, ()) for line in _lines(field)]
    # It takes as long to import as a message; what else is here is needed by who asks no docstring.
    from inspect import cleandoc

    return "\n".join([cleandoc(text), "", "Fields:", *lines]) if lines else text


def _lines(field: dict[str, Any]) -> list[str]:
    """A field: its name, type and versions, and below what it is."""
    words = [
        field["type"],
        *([field["enumeration"]] if "enumeration" in field else []),
        f"versions {field['versions']}",
    ]
    if "nullableVersions" in field:
        words.append(f"null in versions {field['nullableVersions']}")
    if "taggedVersions" in field:
        words.append(f"tag {field['tag']} in versions {field['taggedVersions']}")
    about = field.get("about")
    return [f"    {field['name']}: {', '.join(words)}", *([f"        {about}"] if about else [])]
