"""Short functions to write definitions and to list their problems as printed."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kafka_message_generator import rules
from kafka_message_generator.spec import reader, source
from kafka_message_generator.spec.model import Message
from kafka_message_generator.spec.source import Problems


def field(name: str, type: str = "int32", versions: str = "0+", **more: object) -> dict[str, object]:
    """Return a field as its JSON object; ``more`` has further properties by JSON name."""
    return {"name": name, "type": type, "versions": versions, **more}


def optional(name: str, type: str = "int32", tag: object = "0x1", **more: object) -> dict[str, object]:
    """Return a field of an optional-field buffer as its JSON object."""
    return {"name": name, "type": type, "tag": tag, **more}


def message(*fields: Mapping[str, object], **more: object) -> dict[str, object]:
    """Return the definition ``Probe``, by default a data message of versions 0-3, flexible from 2."""
    own = {"name": "Probe", "type": "data", "validVersions": "0-3", "flexibleVersions": "2+"}
    return {**own, **more, "fields": list(fields)}


def text(*fields: object, **more: object) -> str:
    """Return the definition of ``message`` as text: properties on line 1, then one field per line.

    A property given as ``...`` is omitted.
    """
    properties = {key: value for key, value in message(**more).items() if key != "fields" and value is not ...}
    head = json.dumps(properties).removesuffix("}")
    printed = ",\n".join(json.dumps(each, ensure_ascii=False) for each in fields)
    return f'{head}, "fields": [\n{printed}\n]}}'


def problems_of(files: Mapping[str, str]) -> list[str]:
    """Return the errors, then the warnings, of definitions given as text by file name."""
    problems = Problems()
    messages: list[Message] = []
    for name, contents in files.items():
        node = source.parse(name, contents, problems)
        read = reader.read_message(node, problems) if node is not None else None
        if read is not None:
            messages.append(read)
    rules.check(messages, problems)
    return [*map(str, problems.errors), *map(str, problems.warnings)]
