"""Events that clients, servers and proxies share."""

from __future__ import annotations

from .._core.value import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


@dataclass(frozen=True, slots=True)
class TokenReceived:
    """A raw SASL token: a frame without a header, after SaslHandshake version 0."""

    token: bytes

    def __repr__(self) -> str:
        return f"<TokenReceived, {len(self.token)} bytes>"  # a token may have a password


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    """The peer closed the connection between two frames."""

    unanswered: Sequence[Any]
    """The requests without a response, oldest first."""

    @property
    def data(self) -> bytes:
        """Empty, so that every event of a ProxyConnection can be written."""
        return b""

    @property
    def chunks(self) -> list[bytes]:
        return []
