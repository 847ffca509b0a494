"""Facts about exchanges that the definitions do not have: which requests go unanswered, and when the wire changes."""

from __future__ import annotations

from .._base.message import Message
from ..protocol import api as api_of

UNSUPPORTED_VERSION = 35
"""The error code of an answer to a version of ApiVersions that a broker does not have (KIP-511)."""
API_VERSIONS = "ApiVersions"
PRODUCE = "Produce"


def expects_response(request: Message) -> bool:
    """Whether a request is answered at all; a ProduceRequest with ``acks=0`` is not, nor is one without a response.

    Raises UnknownApiError for a message that is neither request nor response.
    """
    api = api_of(type(request))
    return bool(api.response_name) and not (api.name == PRODUCE and getattr(request, "acks", None) == 0)


def opens_tokens(message: Message, version: int) -> bool:
    """Whether raw SASL tokens follow a response: it is of SaslHandshake version 0, and without an error.

    Version 1 puts tokens into SaslAuthenticate requests instead (KIP-152).
    """
    return message.NAME == "SaslHandshakeResponse" and version == 0 and getattr(message, "error_code", -1) == 0
