"""Look up messages by name, and check versions."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import cast

import kafka_messages
from kafka_messages import Message
from kafka_messages._base.message import unsupported
from kafka_messages._core.suggestions import did_you_mean

from .._core.errors import invalid_argument

_PACKAGE: ModuleType = kafka_messages


@cache
def names() -> tuple[str, ...]:
    modules: dict[str, str] = _PACKAGE._MODULES
    return tuple(sorted(name for name, module in modules.items() if module.startswith("messages.")))


def message_of(name: object) -> type[Message]:
    """Return a message class by name; raise PySparkValueError if it is unknown."""
    if not isinstance(name, str):
        raise invalid_argument(f"expected the name of a message, such as 'MetadataResponse', got {name!r}")
    if name not in names():
        raise invalid_argument(
            f"unknown message {name!r}{did_you_mean(name, names()) or '.'} There are {len(names())} messages."
        )
    return cast("type[Message]", getattr(_PACKAGE, name))


def checked_version(message: type[Message], version: int) -> int:
    """Return ``version`` if the message supports it; otherwise raise PySparkValueError."""
    if not message.LOWEST_SUPPORTED_VERSION <= version <= message.HIGHEST_SUPPORTED_VERSION:
        raise invalid_argument(str(unsupported(message, version)))
    return version
