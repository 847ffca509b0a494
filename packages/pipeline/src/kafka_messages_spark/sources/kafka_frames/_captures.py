"""Split captured streams into frames, and derive connection and direction from file names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any

import pyarrow as pa

from ..._core.errors import invalid_argument
from ...columns._headers import REQUEST, RESPONSE

CHUNK = 4 << 20
MAX_ROWS = 10000
# Maximum bytes of an undecodable rest that a row keeps.
CORRUPT_BYTES = 1 << 20
_PREFIX = 4
_length = Struct(">i").unpack_from

_ADDRESS = r"([0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F:]+)\.([0-9]{1,5})"
_TCPFLOW = re.compile(rf"(?:.*T)?{_ADDRESS}-{_ADDRESS}(c[0-9]+)?(?:\..*)?")
_NAMED = re.compile(r"(.+?)[._-](request|response)s?(?:\.[^.]*)?", re.IGNORECASE)
_DIRECTION = re.compile(r"(request|response)s?", re.IGNORECASE)


@dataclass(frozen=True)
class Naming:
    # Direction of all files, overriding their names.
    direction: str | None
    # Regular expression with the group connection or direction, or both.
    pattern: re.Pattern[str] | None
    # Ports of brokers; determine the direction if the name contains both addresses, as tcpflow writes them.
    broker_ports: tuple[int, ...]

    def parse(self, owner: str, file: str) -> tuple[str, str]:
        """Return the connection and direction of a file; raise PySparkValueError if its name does not determine them."""
        name = file.rpartition("/")[2]
        if self.pattern is not None:
            connection, direction = self._by_pattern(owner, file, name)
        elif found := _TCPFLOW.fullmatch(name):
            connection, direction = self._by_ports(found)
        elif found := _NAMED.fullmatch(name):
            connection, direction = found[1], found[2].lower()
        else:
            connection, direction = name.partition(".")[0] or name, None
        direction = self.direction or direction
        if direction is None:
            ports = ", ".join(map(str, self.broker_ports))
            raise invalid_argument(
                f"{owner}: the name of {file} does not show the direction: use a name with 'request' or "
                f"'response', or with exactly one broker port (now {ports}), or set the option 'direction', "
                "'brokerPorts' or 'fileNamePattern'"
            )
        return connection, direction

    def _by_pattern(self, owner: str, file: str, name: str) -> tuple[str, str | None]:
        assert self.pattern is not None
        found = self.pattern.fullmatch(name)
        if found is None:
            raise invalid_argument(
                f"{owner}: the option 'fileNamePattern' {self.pattern.pattern!r} does not match the whole "
                f"name of {file}"
            )
        groups = found.groupdict()
        direction = groups.get("direction")
        known = _DIRECTION.fullmatch(direction or "")
        if direction is not None and known is None:
            raise invalid_argument(
                f"{owner}: the direction in the name of {file} must be request or response, not {direction!r}"
            )
        return groups.get("connection") or name, known[1].lower() if known else None

    def _by_ports(self, found: re.Match[str]) -> tuple[str, str | None]:
        source, target = (f"{_plain(found[n])}:{int(found[n + 1])}" for n in (1, 3))
        ends = " (" + found[5] + ")" if found[5] else ""
        if int(found[4]) in self.broker_ports and int(found[2]) not in self.broker_ports:
            return f"{source}-{target}{ends}", REQUEST
        if int(found[2]) in self.broker_ports and int(found[4]) not in self.broker_ports:
            return f"{target}-{source}{ends}", RESPONSE
        return f"{source}-{target}{ends}", None


def _plain(address: str) -> str:
    return ".".join(str(int(part)) for part in address.split(".")) if "." in address else address


@dataclass(frozen=True)
class FrameBlock:
    """Consecutive frames of a stream, or its undecodable rest with the reason in ``problem``."""

    # Stream offsets of the length prefixes.
    position: pa.Array
    # Values of the length prefixes.
    size: pa.Array
    # Bytes after the length prefixes; null for an undecodable rest.
    frame: pa.Array
    problem: str | None = None
    # First MiB of an undecodable rest.
    data: bytes = b""


def frame_blocks(file: Any, max_frame: int) -> Iterator[FrameBlock]:
    """Yield the frames of a stream up to the first invalid length, then the undecodable rest.

    Memory use is bounded by the file size, even if a length prefix claims more.
    """
    buffer, base = b"", 0
    need = _PREFIX
    while True:
        data = file.read(CHUNK)
        if data:
            parts = [buffer, data]
            got = len(buffer) + len(data)
            while got < need and (data := file.read(CHUNK)):
                parts.append(data)
                got += len(data)
            buffer = b"".join(parts)
        starts, sizes, at, bad = _split(buffer, max_frame)
        for low in range(0, len(starts), MAX_ROWS):
            yield _block(buffer, base, starts[low : low + MAX_ROWS], sizes[low : low + MAX_ROWS])
        left = buffer[at:]
        if bad is not None or not data:
            while bad is not None and len(left) < CORRUPT_BYTES and (data := file.read(CORRUPT_BYTES - len(left))):
                left += data
            if left:
                yield _rest(base + at, left, max_frame)
            return
        buffer, base = left, base + at
        need = _PREFIX + (_length(left)[0] if len(left) >= _PREFIX else 0)


def _split(buffer: bytes, max_frame: int) -> tuple[list[int], list[int], int, int | None]:
    starts: list[int] = []
    sizes: list[int] = []
    at, end = 0, len(buffer)
    while at + _PREFIX <= end:
        size = _length(buffer, at)[0]
        if not 0 <= size <= max_frame:
            return starts, sizes, at, size
        if at + _PREFIX + size > end:
            break
        starts.append(at)
        sizes.append(size)
        at += _PREFIX + size
    return starts, sizes, at, None


def _block(buffer: bytes, base: int, starts: list[int], sizes: list[int]) -> FrameBlock:
    begins = [start + _PREFIX for start in starts]
    frames = [buffer[begin : begin + size] for begin, size in zip(begins, sizes, strict=True)]
    positions = pa.array([base + start for start in starts], pa.int64())
    return FrameBlock(positions, pa.array(sizes, pa.int32()), pa.array(frames, pa.binary()))


def _rest(position: int, left: bytes, max_frame: int) -> FrameBlock:
    size = _length(left)[0] if len(left) >= _PREFIX else None
    if size is None:
        problem = f"the stream ends after {len(left)} of the 4 bytes of a length"
    elif 0 <= size <= max_frame:
        problem = f"the stream ends after {len(left) - _PREFIX} of the {size} bytes of a frame"
    else:
        problem = f"invalid frame length {size}; expected 0 to {max_frame}; later frames cannot be located" + _foreign(
            position, left
        )
    return not_a_frame(position, size, problem, left[:CORRUPT_BYTES])


def not_a_frame(position: int, size: int | None, problem: str, data: bytes) -> FrameBlock:
    return FrameBlock(pa.array([position]), pa.array([size], pa.int32()), pa.nulls(1, pa.binary()), problem, data)


def _foreign(position: int, left: bytes) -> str:
    if left[0] in (0x14, 0x15, 0x16, 0x17) and left[1:2] == b"\x03":
        return "; the bytes look like TLS"
    return "; the bytes do not look like the start of a connection" if position == 0 else ""
