"""States of a connection and the events that change them, one table per role."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """State of one side of a connection."""

    NEGOTIATING = "negotiating"
    """Client: the broker's versions are unknown; only ApiVersionsRequest can be sent without an explicit version."""
    HANDSHAKING = "handshaking"
    """Server: a SaslHandshake of version 0 is unanswered; its response determines the next frame's format."""
    AUTHENTICATING = "authenticating"
    """Frames are raw SASL tokens, after a successful SaslHandshake of version 0."""
    READY = "ready"
    """Frames are requests and responses."""
    CLOSED = "closed"
    """The peer closed the connection or violated the protocol."""


class Event(Enum):
    VERSIONS_AGREED = "versions agreed"
    VERSIONS_UNKNOWN = "versions unknown"
    HANDSHAKE_RECEIVED = "handshake received"
    HANDSHAKE_REJECTED = "handshake rejected"
    HANDSHAKE_ACCEPTED = "handshake accepted"
    TOKENS_ENDED = "tokens ended"
    CLOSED = "closed"


# Module-level names, because access to the attributes of an Enum is slow.
NEGOTIATING, HANDSHAKING, AUTHENTICATING, READY, CLOSED = State

# Events without an entry keep the state.
CLIENT = {
    NEGOTIATING: {
        Event.VERSIONS_AGREED: READY,
        Event.HANDSHAKE_ACCEPTED: AUTHENTICATING,
        Event.CLOSED: CLOSED,
    },
    AUTHENTICATING: {
        Event.TOKENS_ENDED: READY,
        Event.CLOSED: CLOSED,
    },
    READY: {
        Event.VERSIONS_UNKNOWN: NEGOTIATING,
        Event.HANDSHAKE_ACCEPTED: AUTHENTICATING,
        Event.CLOSED: CLOSED,
    },
    CLOSED: {},
}
SERVER = {
    READY: {
        Event.HANDSHAKE_RECEIVED: HANDSHAKING,
        Event.CLOSED: CLOSED,
    },
    HANDSHAKING: {
        Event.HANDSHAKE_ACCEPTED: AUTHENTICATING,
        Event.HANDSHAKE_REJECTED: READY,
        Event.CLOSED: CLOSED,
    },
    AUTHENTICATING: {
        Event.TOKENS_ENDED: READY,
        Event.CLOSED: CLOSED,
    },
    CLOSED: {},
}
PROXY_CLIENT = {
    READY: {
        Event.HANDSHAKE_ACCEPTED: AUTHENTICATING,
        Event.CLOSED: CLOSED,
    },
    AUTHENTICATING: {
        Event.TOKENS_ENDED: READY,
        Event.CLOSED: CLOSED,
    },
    CLOSED: {},
}
PROXY_BROKER = {
    READY: {Event.CLOSED: CLOSED},
    CLOSED: {},
}
