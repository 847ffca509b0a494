"""What can go wrong around a message: its frame, its API, a request that cannot be served."""

from __future__ import annotations

from ..errors import DecodeError, KafkaMessageError, UnsupportedVersionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._apis import Api
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


class UnsupportedRequestError(UnsupportedVersionError):
    """A request for a version that its API does not have; its body was not read.

    ``api`` is the API and ``header`` the header of the request: what a broker needs for its answer.
    """

    def __init__(self, reason: str, api: Api, header: RequestHeader) -> None:
        super().__init__(reason, api, header)
        self.api = api
        self.header = header

    def __str__(self) -> str:
        return str(self.args[0])
