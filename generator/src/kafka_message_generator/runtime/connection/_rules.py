"""Protocol rules that are not in the definitions, and checks of arguments."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from .._base.message import Message
from .._base.message import Response as ResponseMessage
from .._core.display import class_or_value, display
from .._core.structs import name_of
from ..errors import EncodeError
from ..protocol import UnknownApiError
from ..protocol import api as api_of
from ._events import LocalProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.message import Response
    from ..protocol import Api
    from ..protocol._apis import AnyApi

UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
API_VERSIONS = "ApiVersions"
PRODUCE = "Produce"


def expects_response(request: Message) -> bool:
    """Return whether a request gets a response: False for a ProduceRequest with ``acks=0`` or an API without response.

    Raises UnknownApiError for any other message, such as a response.
    """
    api = api_of(type(request))
    if isinstance(request, ResponseMessage):
        raise UnknownApiError(f"{name_of(type(request))} is a response; pass the request")
    return is_answered(api, request)


def is_answered(api: Api, request: Message) -> bool:
    return bool(api.response_name) and not (api.name == PRODUCE and getattr(request, "acks", None) == 0)


def opens_tokens(message: Message, version: int) -> bool:
    """Return whether raw SASL tokens follow: True for a successful SaslHandshakeResponse of version 0 (KIP-152)."""
    is_last = version == 0 and getattr(message, "error_code", -1) == 0
    return is_last and name_of(type(message)) == "SaslHandshakeResponse"


def check_type(value: object, wanted: type[object]) -> None:
    if not isinstance(value, wanted):
        raise TypeError(f"expected {wanted.__name__}, got {display(value)}")


def check_text(text: str) -> None:
    if text not in ("strict", "surrogateescape"):
        raise ValueError(f"text must be 'strict' or 'surrogateescape', not {display(text)}")


def check_request(request: Message) -> None:
    if not isinstance(request, Message):
        raise TypeError(f"expected a request, got {class_or_value(request)}")
    if isinstance(request, ResponseMessage):
        raise EncodeError("this message is not a request", name_of(type(request)))


def several(named: Iterable[AnyApi], what: str) -> list[Api]:
    if isinstance(named, str | type) or not hasattr(named, "__iter__"):
        raise TypeError(f"{what} must be a list of APIs, not {display(named)}")
    return [api_of(each) for each in named]


def check_response(api: Api, response: Message) -> None:
    if not isinstance(response, Message):
        raise TypeError(f"expected {api.response_name or 'a message'}, got {display(response)}")
    name = name_of(type(response))
    if api.response_name != name:
        expected = f"is answered with {api.response_name}" if api.response_name else "has no response"
        raise LocalProtocolError(f"{api.request_name} {expected}, not {name}")


def unsupported(response: Any) -> Response:
    changed: Any = copy(response)
    if not response.error_code:
        changed.error_code = UNSUPPORTED_VERSION
    result: Response = changed
    return result
