"""Clients, servers and proxies with asyncio, on top of the component ``connection``."""

from __future__ import annotations

from ._client import BrokerConnection, connect
from ._listener import CloseConnection, Listener
from ._relay import Relay, RelayConnection, relay
from ._server import serve

__all__ = ["BrokerConnection", "CloseConnection", "Listener", "Relay", "RelayConnection", "connect", "relay", "serve"]
