"""What happens on a connection, whichever side of it one is."""

from __future__ import annotations

from .._core.value import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


@dataclass(frozen=True, slots=True)
class TokenReceived:
    """A raw SASL token: after SaslHandshake version 0 tokens travel in frames of their own, without any header."""

    token: bytes

    def __repr__(self) -> str:
        return f"<TokenReceived, {len(self.token)} bytes>"  # a token may have a password


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    """The peer closed the connection, between two frames."""

    unanswered: Sequence[Any]
    """What was not answered, in the order of the requests: ``Sent`` of a client, ``RequestReceived`` of a server."""

    @property
    def data(self) -> bytes:
        """Nothing to pass on; so what comes out of a ProxyConnection can be written as it is."""
        return b""

    @property
    def parts(self) -> list[bytes]:
        """No pieces, as there is no ``data``."""
        return []
