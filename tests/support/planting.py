"""Marker texts in the secret fields of messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_messages import Message
from kafka_messages.secrets import secrets_of

_ENTRIES, _, _ = (Path(__file__).parents[2] / "specs/kafka/secrets.json").read_text("utf-8").partition('"open":')
WITH_SECRETS = sorted(set(re.findall(r'"message": "(\w+)"', _ENTRIES)))
PLANTED = "swordfish"


def leaves(struct: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Return the structs that contain the field at the end of a path, and its name."""
    name, _, rest = path.partition(".")
    if not rest:
        yield struct, name
        return
    value = getattr(struct, name)
    for inner in () if value is None else value if isinstance(value, list) else [value]:
        yield from leaves(inner, rest)


def planted(message: Message, text: str = PLANTED) -> int:
    """Put a text into every secret of a message that is not null; return the number of secrets."""
    found, count = secrets_of(type(message)), 0
    for setting in found.settings:
        for struct, name in leaves(message, setting.name):
            setattr(struct, name, "rsm.config.key")
        for struct, name in leaves(message, setting.resource_type) if setting.resource_type else ():
            setattr(struct, name, 4)
    for path in (*found.fields, *(setting.value for setting in found.settings)):
        for struct, name in leaves(message, path):
            value = getattr(struct, name)
            if value is not None:
                setattr(struct, name, text if isinstance(value, str) else text.encode())
                count += 1
    return count
