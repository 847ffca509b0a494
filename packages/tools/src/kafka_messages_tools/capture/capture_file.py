"""Capture files: detection of the format and iteration over exchanges."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

from ..package import DEFAULT, Package, load
from ..packets.files import is_capture, read_packets
from ..packets.report import CaptureError, CaptureReport
from ..packets.segments import segments
from .follow import follow_pieces, is_followed
from .framing import frames
from .matching import Exchange, events
from .reassembly import End, TcpSegment, streams

_PEEK_BYTES = 4096


class Capture:
    """One-shot iterable of the exchanges of a capture, and a context manager. ``report`` is filled during iteration."""

    def __init__(self, file: BinaryIO, ports: Collection[int] = (), package: str | Package = DEFAULT) -> None:
        """Read a binary file; other arguments are as in ``open_capture``. Raises CaptureError and PackageError."""
        self.report = CaptureReport()
        self._package = load(package)
        self._file = file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, file))
        self._pieces = self._opened()
        self._ports = ports

    def _opened(self) -> Iterator[TcpSegment | End]:
        start = self._file.peek(_PEEK_BYTES)[:_PEEK_BYTES]
        if is_capture(start):
            return streams(segments(read_packets(self._file, self.report), self.report), self.report)
        if is_followed(start):
            return follow_pieces(io.TextIOWrapper(self._file, "utf-8", "replace"), self.report)
        what = f"begins with {start[:8].hex(' ')}" if start else "is empty"
        raise CaptureError(f"not pcap, pcapng or the text of 'Follow TCP Stream': it {what}")

    def __iter__(self) -> Iterator[Exchange]:
        return (each for each in self.events() if isinstance(each, Exchange))

    def events(self) -> Iterator[Exchange | End]:
        """Yield the exchanges, and the end of each connection after them."""
        found = frames(self._pieces, self._ports, self.report, package=self._package)
        return events(found, self.report, self._package)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def open_capture(path: str | Path, ports: Collection[int] = (), package: str | Package = DEFAULT) -> Capture:
    """Open a capture file: pcap or pcapng, optionally gzipped, or the text of Wireshark's "Follow TCP Stream".

    ``ports`` are the ports of brokers; if empty, Kafka connections are detected. ``package`` is the import name of
    the generated package that decodes the messages. Raises OSError, CaptureError and PackageError.
    """
    file = Path(path).open("rb")  # noqa: SIM115  # the capture closes it
    try:
        return Capture(file, ports, package)
    except BaseException:
        file.close()
        raise
