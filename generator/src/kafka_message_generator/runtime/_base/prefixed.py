"""Readers of int16 and varint prefixes, and of the message after a prefix."""

from __future__ import annotations

from struct import Struct

from .._core.wire import Malformed, read_uvarint
from ..errors import DecodeError
from .message import Message, find_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from .message import Text

    M = TypeVar("M", bound=Message)

_unpack_h = Struct(">h").unpack_from


def read_rest(message: type[M], data: bytes, offset: int, version: int, text: Text = "strict") -> M:
    """Decode the message from ``offset`` to the end of ``data``. Raises UnsupportedVersionError and DecodeError."""
    if text == "strict":
        result, end = message.read_from(data, offset, version)
    else:
        result, end = message.read_from(data, offset, version, text=text)
    if end == len(data):
        return result
    del result  # before the search
    raise AssertionError(find_end(message, data, offset, version, True, text))  # which raises


def read_int16(data: bytes, what: str, message: str = "") -> int:
    if len(data) < 2:
        raise DecodeError(f"2 bytes needed at offset 0, {len(data)} left", message, path=what, offset=0)
    value: int = _unpack_h(data)[0]
    return value


def read_unsigned(data: bytes, offset: int, what: str) -> tuple[int, int]:
    try:
        return read_uvarint(data, offset)
    except IndexError:
        reason = f"truncated unsigned varint at offset {offset}"
    except Malformed:
        reason = f"the unsigned varint at offset {offset} does not fit into 32 bits"
    raise DecodeError(reason, path=what, offset=offset)
