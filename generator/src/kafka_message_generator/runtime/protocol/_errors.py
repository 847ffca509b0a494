"""Exceptions for invalid frames and unknown APIs."""

from __future__ import annotations

from ..errors import DecodeError, KafkaMessageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._shapes import RequestHeader


class FramingError(DecodeError):
    """Invalid frames; ``offset`` counts from the start of the stream."""


class UnknownApiError(KafkaMessageError, ValueError):
    """API key, name or message without an API in this package.

    After decoding a request, ``header`` has API key, API version and correlation id; otherwise it is None.
    """

    def __init__(self, reason: str, header: RequestHeader | None = None) -> None:
        super().__init__(reason)
        self.header = header
