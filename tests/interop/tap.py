"""A relay on loopback that keeps what goes through it: a file of requests and one of responses for each connection."""

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
    """Connections to a port, relayed to another one. Files are named by the port that the broker sees the client at."""

    def __init__(self, port: int, target: int, folder: Path) -> None:
        self._listener = socket.create_server(("localhost", port))
        self._target = target
        self._folder = folder
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        folder.mkdir(parents=True, exist_ok=True)
        self._threads[0].start()

    def close(self) -> None:
        """Ends all connections, and waits until their files are written."""
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(SECONDS)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            try:
                broker = socket.create_connection(("localhost", self._target), SECONDS)
            except OSError:
                client.close()
                continue
            broker.settimeout(None)
            self._sockets += [client, broker]
            name = broker.getsockname()[1]
            for source, target, direction in ((client, broker, "request"), (broker, client, "response")):
                kept = (self._folder / f"{name}.{direction}.bin").open("xb")
                thread = threading.Thread(target=_relay, args=(source, target, kept), daemon=True)
                self._threads.append(thread)
                thread.start()


def _relay(source: socket.socket, target: socket.socket, kept: BinaryIO) -> None:
    """Passes bytes on until there are no more. What is kept is what was received, passed on or not."""
    with kept, suppress(OSError):
        while data := source.recv(CHUNK):
            kept.write(data)
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def tapped(port: int, target: int, folder: Path) -> Iterator[Tap]:
    """A relay from ``port`` to ``target`` until the end of the block."""
    tap = Tap(port, target, folder)
    try:
        yield tap
    finally:
        tap.close()
