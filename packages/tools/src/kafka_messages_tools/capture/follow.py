"""Parser for "Follow TCP Stream" text of tshark and Wireshark: hex dump, raw hex or YAML.

Input is the output of ``tshark -q -z follow,tcp,hex,0`` (or ``raw``, ``yaml``), or a stream saved by Wireshark.
The packet number of a segment is a line number, except in YAML.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..packets.report import CaptureError, CaptureReport
from ..packets.segments import SocketAddress
from .reassembly import End, TcpConnection, TcpSegment

_RULE = re.compile(r"={20,}\s*$")
_NODE = re.compile(r"Node ([01]): (.+):(\d{1,5})\s*$")
_DUMP = re.compile(r"([ \t]*)([0-9A-Fa-f]{8,16})  ((?:[0-9A-Fa-f]{2}(?:  ?|$)){1,16})(?= |$)")
_RAW = re.compile(r"(\t?)((?:[0-9A-Fa-f]{2})+)\s*$")
_UNKNOWN = (SocketAddress("0.0.0.0", 0), SocketAddress("0.0.0.0", 1))


class _Part(NamedTuple):

    node: int
    data: bytes
    packet: int
    time_ns: int | None


def is_followed(start: bytes) -> bool:
    """Check whether a file that starts with these bytes is "Follow TCP Stream" text."""
    lines = [line for line in start.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return False
    if lines[0].startswith("peers:") or _DUMP.match(lines[0]):
        return True
    return bool(_RULE.match(lines[0])) and any(line.startswith("Follow: tcp") for line in lines[1:2])


def follow_pieces(lines: Iterable[str], report: CaptureReport | None = None) -> Iterator[TcpSegment | End]:
    """Yield the bytes of a followed stream, then its end. Raises CaptureError for an invalid line, or without bytes."""
    report = report or CaptureReport()
    source = _Numbered(lines)
    nodes = list(_UNKNOWN)
    parts = _parts(source, nodes)
    connection: TcpConnection | None = None
    offsets = [0, 0]
    for part in parts:
        if connection is None:
            connection = TcpConnection(1, nodes[0], nodes[1], True)
            report.count("connections")
        yield TcpSegment(connection, nodes[part.node], offsets[part.node], part.data, 0, part.packet, part.time_ns)
        offsets[part.node] += len(part.data)
    if connection is None:
        raise CaptureError("the text of the followed stream has no bytes")
    yield End(connection, "the end of the capture")


class _Numbered:

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            yield line.rstrip("\r\n")

    def wrong(self, what: str) -> CaptureError:
        return CaptureError(f"line {self.number} of the followed stream {what}")


def _parts(source: _Numbered, nodes: list[SocketAddress]) -> Iterator[_Part]:
    for line in source:
        if line.startswith("peers:"):
            return (yield from _yaml(source, nodes))
        if found := _NODE.match(line):
            nodes[int(found[1])] = SocketAddress(found[2].strip("[]"), int(found[3]))
        elif found := _DUMP.match(line):
            ends = [0, 0]
            yield _dumped(source, found, ends)
            return (yield from _hex(source, ends))
        elif found := _RAW.match(line):
            yield _raw(source, found)
            return (yield from _raws(source))
        elif line.strip() and not _RULE.match(line) and not line.startswith(("Follow:", "Filter:")):
            raise source.wrong("is neither a header nor bytes; expected a hex dump, raw hex or YAML")
    return None


def _hex(source: _Numbered, ends: list[int]) -> Iterator[_Part]:
    for line in source:
        if found := _DUMP.match(line):
            yield _dumped(source, found, ends)
        elif line.strip() and not _RULE.match(line):
            raise source.wrong("is not a line of a hex dump")


def _dumped(source: _Numbered, found: re.Match[str], ends: list[int]) -> _Part:
    node, data = int(bool(found[1])), bytes.fromhex(found[3])
    if int(found[2], 16) != ends[node]:
        raise source.wrong(f"begins at offset {int(found[2], 16)}, but {ends[node]} bytes precede it")
    ends[node] += len(data)
    return _Part(node, data, source.number, None)


def _raws(source: _Numbered) -> Iterator[_Part]:
    for line in source:
        if found := _RAW.match(line):
            yield _raw(source, found)
        elif line.strip() and not _RULE.match(line):
            raise source.wrong("is not a line of hex digits")


def _raw(source: _Numbered, found: re.Match[str]) -> _Part:
    return _Part(int(bool(found[1])), bytes.fromhex(found[2]), source.number, None)


_KEY = re.compile(r"[ -]*(\w+):\s*(.*)$")


def _yaml(source: _Numbered, nodes: list[SocketAddress]) -> Iterator[_Part]:
    values: dict[str, str] = {}
    text: list[str] | None = None
    for line in source:
        found = _KEY.match(line)
        if found is None:
            if text is not None:
                text.append(line.strip())
            elif line.strip():
                raise source.wrong("is neither a key nor base64")
            continue
        key, value = found[1], found[2]
        if text is not None:
            yield _packed(source, values, text)
            text = None
        if key == "data":
            text = []
        else:
            values[key] = value
        if key == "port" and "host" in values and values.get("peer") in ("0", "1"):
            nodes[int(values["peer"])] = SocketAddress(values["host"].strip("'\"[]"), _number(source, value))
    if text is not None:
        yield _packed(source, values, text)


def _number(source: _Numbered, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise source.wrong(f"has {text!r} instead of a number")
    return int(text)


def _packed(source: _Numbered, values: dict[str, str], text: list[str]) -> _Part:
    if values.get("peer") not in ("0", "1"):
        raise source.wrong("ends a packet that has no peer number")
    try:
        data = a2b_base64("".join(text), strict_mode=True)
    except ValueError as error:
        raise source.wrong(f"ends a packet whose data is not valid base64: {error}") from None
    seconds, _, fraction = values.get("timestamp", "").partition(".")
    is_time = (seconds + fraction).isdecimal() and len(seconds) < 12
    time = int(seconds or "0") * 10**9 + int(fraction[:9].ljust(9, "0")) if is_time else None
    return _Part(int(values["peer"]), data, _number(source, values.get("packet", "0")), time)
