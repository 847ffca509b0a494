"""Parser of the output of ``tshark -q -z follow,tcp,raw,N``, with both directions as hex lines.

The first lines name the two nodes; lines of node 1 start with a tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.errors import PySparkValueError

from ..._core.errors import invalid_argument
from ...columns._headers import REQUEST

_NODE = re.compile(rb"Node ([01]): (\S+):([0-9]{1,5})\s*")
_HEX = re.compile(rb"\t?[0-9a-fA-F]+\s*")
# Lines searched for the names of the nodes.
_MAX_LINES = 64


@dataclass(frozen=True)
class FollowedStream:
    connection: str
    # Node that sends the requests, 0 or 1.
    client: int

    def indented(self, direction: str) -> bool:
        return (self.client == 1) == (direction == REQUEST)


class NotTsharkTextError(PySparkValueError):
    """File that is not tshark's follow output; ``reason`` omits the file name."""

    def __init__(self, owner: str, name: str) -> None:
        self.reason = "does not start with the lines 'Node 0: ...' and 'Node 1: ...' of tshark's follow output"
        super().__init__(f"{owner}: {name} {self.reason}")


def nodes(owner: str, name: str, lines: Iterable[bytes], ports: tuple[int, ...]) -> FollowedStream:
    """Find the client and the broker, which has one of the ``ports``, in the first lines of tshark's output.

    Raises NotTsharkTextError if the lines do not name both, PySparkValueError if the ports do not identify the broker.
    """
    found: dict[int, tuple[str, int]] = {}
    for number, line in enumerate(lines):
        if (node := _NODE.fullmatch(line)) is not None:
            found[int(node[1])] = node[2].decode("ascii", "replace"), int(node[3])
        if len(found) == 2 or number == _MAX_LINES:
            break
    if len(found) < 2:
        raise NotTsharkTextError(owner, name)
    brokers = [node for node, (_, port) in found.items() if port in ports]
    if len(brokers) != 1:
        endpoints = " and ".join(f"{host}:{port}" for host, port in (found[0], found[1]))
        raise invalid_argument(f"{owner}: which of {endpoints} in {name} is the broker? Set the option 'brokerPorts'")
    client = 1 - brokers[0]
    ends = [f"{host}:{port}" for host, port in (found[client], found[brokers[0]])]
    return FollowedStream("-".join(ends), client)


class InvalidHexError(ValueError):
    pass


class HexLines:
    """One direction of a followed connection as a byte stream.

    An invalid line ends the stream and sets ``error``.
    """

    def __init__(self, lines: Iterable[bytes], indented: bool) -> None:
        self._lines = self._of(lines, indented)
        self._rest = b""
        self.error: InvalidHexError | None = None
        self.position = 0

    @staticmethod
    def _of(lines: Iterable[bytes], indented: bool) -> Iterator[bytes]:
        has_begun = False
        for line in lines:
            if not line.strip():
                continue
            if _HEX.fullmatch(line) and len(line.strip()) % 2 == 0:
                has_begun = True
                if (line[:1] == b"\t") == indented:
                    yield bytes.fromhex(line.strip().decode())
            elif has_begun and not line.startswith(b"==="):
                raise InvalidHexError(f"a line of tshark's follow output is not hexadecimal: {line[:40]!r}")
            elif has_begun:
                return

    def read(self, size: int) -> bytes:
        parts, got = [self._rest], len(self._rest)
        while got < size and (data := self._next()):
            parts.append(data)
            got += len(data)
        whole = b"".join(parts)
        self._rest = whole[size:]
        self.position += len(whole[:size])
        return whole[:size]

    def _next(self) -> bytes:
        try:
            return next(self._lines, b"")
        except InvalidHexError as error:
            self.error = error
            return b""
