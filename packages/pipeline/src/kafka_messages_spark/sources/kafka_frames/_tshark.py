"""The text that ``tshark -q -z follow,tcp,raw,N`` prints: both directions of a connection, as lines of hex digits.

Lines of the node that is called 1 begin with a tab. The lines before the first of them name the nodes.
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
_MAX_LINES = 64
"""Before the nodes are named."""


@dataclass(frozen=True)
class FollowedStream:
    """Who talks in such a text."""

    connection: str
    client: int
    """The node that sends the requests."""

    def indented(self, direction: str) -> bool:
        """Whether the lines of a direction begin with a tab."""
        return (self.client == 1) == (direction == REQUEST)


class NotTsharkTextError(PySparkValueError):
    """A file is none of such a text; ``reason`` says so without its name."""

    def __init__(self, owner: str, name: str) -> None:
        self.reason = "does not begin with the lines 'Node 0: ...' and 'Node 1: ...' of tshark's follow"
        super().__init__(f"{owner}: {name} {self.reason}")


def nodes(owner: str, name: str, lines: Iterable[bytes], ports: tuple[int, ...]) -> FollowedStream:
    """Who talks in a text. Raises NotFollowedError if it is none, PySparkValueError if ports do not tell who it is."""
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
        told = " and ".join(f"{host}:{port}" for host, port in (found[0], found[1]))
        raise invalid_argument(f"{owner}: which of {told} in {name} is the broker? Set the option 'brokerPorts'")
    client = 1 - brokers[0]
    ends = [f"{host}:{port}" for host, port in (found[client], found[brokers[0]])]
    return FollowedStream("-".join(ends), client)


class InvalidHexError(ValueError):
    """A line is none of such a text."""


class HexLines:
    """One direction of such a text as a stream of bytes; ``position`` is how many were read.

    It ends before a line that is none of such a text; ``error`` says so then.
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
                raise InvalidHexError(f"a line of tshark's follow is no hex: {line[:40]!r}")
            elif has_begun:
                return

    def read(self, size: int) -> bytes:
        """Up to so many bytes; none at the end."""
        parts, got = [self._rest], len(self._rest)
        while got < size and (data := self._next()):
            parts.append(data)
            got += len(data)
        whole = b"".join(parts)
        self._rest = whole[size:]
        self.position += len(whole[:size])
        return whole[:size]

    def _next(self) -> bytes:
        """The bytes of a line; none at the end, and where a line is no hex."""
        try:
            return next(self._lines, b"")
        except InvalidHexError as error:
            self.error = error
            return b""
