"""Exceptions of framing and of the table of APIs."""

from __future__ import annotations

from ..errors import DecodeError, KafkaMessageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._shapes import RequestHeader


class FramingError(DecodeError):
    """The bytes are not frames; ``offset`` counts from the start of the stream."""


class UnknownApiError(KafkaMessageError, ValueError):
    """The package has no API for a key, name or message.

    When a request was decoded, ``header`` has the fields that all headers share: API key, API version and correlation
    id. Otherwise it is None.
    """

    def __init__(self, reason: str, header: RequestHeader | None = None) -> None:
        super().__init__(reason)
        self.header = header
