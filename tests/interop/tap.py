"""A relay on loopback that records requests and responses of each connection in two files."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

SECONDS = 20
CHUNK = 1 << 16


class Tap:
    """A relay from one port to another; files are named after the port from which the relay connects to the broker."""

    def __init__(self, port: int, target: int, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._target = target
        self._folder = folder
        self._sockets: list[socket.socket] = []
        self._relays: list[threading.Thread] = []
        self._names: set[int] = set()
        self._failure: Exception | None = None
        self._listener = socket.create_server(("localhost", port))
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def close(self) -> None:
        """Close all connections, wait until their files are written, and raise an error of a thread."""
        _end(self._listener)
        self._listening.join(SECONDS)
        for each in self._sockets:
            _end(each)
        for relay in self._relays:
            relay.join(SECONDS)
        if self._failure is not None:
            raise self._failure

    def _listen(self) -> None:
        try:
            while client := self._accepted():
                self._begin(client)
        except Exception as error:  # close() raises the error
            self._failure = error
            for each in (self._listener, *self._sockets):
                _end(each)

    def _accepted(self) -> socket.socket | None:
        try:
            return self._listener.accept()[0]
        except OSError:
            return None

    def _begin(self, client: socket.socket) -> None:
        self._sockets.append(client)
        try:
            broker = self._connected()
        except OSError:
            _end(client)  # like a broker that is down
            return
        name = broker.getsockname()[1]
        for source, target, direction in ((client, broker, "request"), (broker, client, "response")):
            kept = (self._folder / f"{name}.{direction}.bin").open("xb")
            relay = threading.Thread(target=_relay, args=(source, target, kept), daemon=True)
            self._relays.append(relay)
            relay.start()

    def _connected(self) -> socket.socket:
        while True:
            broker = socket.create_connection(("localhost", self._target), SECONDS)
            broker.settimeout(None)
            self._sockets.append(broker)
            port = broker.getsockname()[1]
            if port not in self._names:
                self._names.add(port)
                return broker


def _relay(source: socket.socket, target: socket.socket, kept: BinaryIO) -> None:
    with kept, suppress(OSError):
        while data := source.recv(CHUNK):
            kept.write(data)
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextmanager
def tapped(port: int, target: int, folder: Path) -> Iterator[None]:
    """Relay ``port`` to ``target`` inside the ``with`` block."""
    tap = Tap(port, target, folder)
    try:
        yield
    finally:
        tap.close()
