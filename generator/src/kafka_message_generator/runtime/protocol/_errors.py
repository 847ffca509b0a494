"""What can go wrong around a message: its frame, its API."""

from __future__ import annotations

from ..errors import DecodeError, KafkaMessageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._shapes import RequestHeader


class FramingError(DecodeError):
    """The bytes of a connection are not frames; ``offset`` counts from the first byte of the stream."""


class UnknownApiError(KafkaMessageError, ValueError):
    """No API of this package has this key, or this message.

    ``header`` is what is certain of the header of a request that was being decoded (API key, API version and
    correlation id, which every request begins with; the client id is left None), else None.
    """

    def __init__(self, reason: str, header: RequestHeader | None = None) -> None:
        super().__init__(reason)
        self.header = header
