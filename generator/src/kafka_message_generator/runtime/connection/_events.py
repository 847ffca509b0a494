"""Events shared by clients, servers and proxies."""

from __future__ import annotations

from .._core.value import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


@dataclass(frozen=True, slots=True)
class TokenReceived:
    """Raw SASL token: a frame without a header, after SaslHandshake version 0."""

    token: bytes

    def __repr__(self) -> str:
        return f"<TokenReceived, {len(self.token)} bytes>"  # tokens can contain passwords


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    """The peer closed the connection between two frames."""

    unanswered: Sequence[Any]

    @property
    def data(self) -> bytes:
        return b""

    @property
    def chunks(self) -> list[bytes]:
        return []
