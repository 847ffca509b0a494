"""IPv4 and IPv6, with extension headers and fragments."""

from __future__ import annotations

from collections import OrderedDict

from .headers import ETHERNET, ETHERTYPE, IP, PROTOCOL, TRUNCATED, Headers, Layer, Reader, Skipped, Unread
from .report import CaptureReport
from .tunnels import udp_tunnel

# Maximum number of incomplete datagrams.
MOST_FRAGMENTED = 256
# Maximum bytes held of one, with 256 bytes for each fragment.
MOST_HELD = 128 << 10
# Number of reassembled datagrams whose repeated fragments are recognized.
MOST_REASSEMBLED = 64
# Nanoseconds after which an identification is used for another datagram, as in Linux.
MOST_AGE = 30_000_000_000
# Protocols whose fragments are reassembled: TCP, UDP, tunnels, and extension headers of IPv6.
_JOINED = frozenset((0, 4, 6, 17, 41, 43, 47, 51, 60, 135, 137, 139, 140, 143))


class _Datagram:

    def __init__(self, time_ns: int) -> None:
        self.time_ns = time_ns
        self.parts: dict[int, tuple[bytes, int]] = {}
        self.length: int | None = None
        self.is_harmless = False

    def accepts(self, offset: int, part: tuple[bytes, int], time_ns: int) -> bool:
        """Return False for a fragment of another datagram with the same identification."""
        is_other = self.parts.get(offset, part) != part or time_ns - self.time_ns > MOST_AGE
        return not is_other and sum(len(data) + 256 for data, _ in self.parts.values()) < MOST_HELD

    def whole(self) -> tuple[bytes, int] | None:
        if self.length is None:
            return None
        data = bytearray()
        end, is_cut = 0, False
        for offset in sorted(self.parts):
            part, length = self.parts[offset]
            if offset > end:
                return None
            if not is_cut and offset + length > end:
                data += part[end - offset :]
                is_cut = len(part) < length
            end = max(end, offset + length)
        return (bytes(data[: self.length]), self.length) if end >= self.length else None


class InternetProtocol:
    """Readers of IP headers, which share the incomplete datagrams. ``time_ns`` is the time of the current packet."""

    def __init__(self, report: CaptureReport) -> None:
        self.time_ns = 0
        self._report = report
        self._waiting: OrderedDict[tuple[object, ...], _Datagram] = OrderedDict()
        self._reassembled: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self.readers: dict[Layer, Reader] = {
            (ETHERTYPE, 0x0800): self._ipv4,
            (ETHERTYPE, 0x86DD): self._ipv6,
            **{(PROTOCOL, number): lambda _: IP for number in (4, 41)},
            **{(PROTOCOL, number): _extension for number in (0, 43, 60, 135, 139, 140)},
            (PROTOCOL, 44): self._fragment,
            (PROTOCOL, 51): lambda place: _extension(place, 4),
            (PROTOCOL, 137): lambda _: (ETHERTYPE, 0x8847),
            (PROTOCOL, 143): lambda _: ETHERNET,
        }

    def _ipv4(self, place: Headers) -> Layer:
        first, total, identity, fragment, protocol, place.source, place.target = place.peek(">BxHHHxBxx4s4s")
        size = (first & 15) * 4
        if first >> 4 != 4 or size < 20 or (total and total < size):
            raise Unread("packets with an invalid IP header")
        place.limit(place.at + total if total else place.end)  # 0 with segmentation offload
        place.at += size
        if fragment & 0x3FFF and protocol in _JOINED:
            self._join(place, protocol, identity, (fragment & 0x1FFF) * 8, bool(fragment & 0x2000))
        return PROTOCOL, protocol

    def _ipv6(self, place: Headers) -> Layer:
        first, total, protocol, place.source, place.target = place.take(">IHBx16s16s")
        if first >> 28 != 6:
            raise Unread("packets with an invalid IP header")
        place.limit(place.at + total if total else place.end)  # 0 for jumbograms or segmentation offload
        return PROTOCOL, protocol

    def _fragment(self, place: Headers) -> Layer:
        protocol, offset, identity = place.take(">BxHI")
        if offset & 0xFFF9 and protocol in _JOINED:
            self._join(place, protocol, identity, offset & 0xFFF8, bool(offset & 1))
        return PROTOCOL, protocol

    def _join(self, place: Headers, protocol: int, identity: int, offset: int, more: bool) -> None:
        """Go on with the datagram that a fragment completes; raise Skipped if it is still incomplete."""
        if place.at > place.stop:
            raise Unread(TRUNCATED)
        part = place.data[place.at : place.stop], place.end - place.at
        end = offset + part[1]
        if end > 0xFFFF:
            raise Unread("fragments beyond the end of a datagram")
        key = (place.source, place.target, protocol, identity)
        if part[0] and self._reassembled.get(key, b"")[offset:end] == part[0]:
            raise Skipped("fragments")  # captured twice
        if key in self._waiting and not self._waiting[key].accepts(offset, part, self.time_ns):
            self._lose(key)
        datagram = self._waiting.setdefault(key, _Datagram(self.time_ns))
        datagram.parts[offset] = part
        datagram.is_harmless |= protocol == 17 and offset == 0 and udp_tunnel(place) is None
        if not more:
            datagram.length = end
        whole = datagram.whole()
        if whole is None:
            if len(self._waiting) > MOST_FRAGMENTED:
                self._lose(next(iter(self._waiting)))
            raise Skipped("fragments")
        del self._waiting[key]
        self._report.count("datagrams reassembled from fragments")
        place.data, place.end = whole
        place.at, place.stop = 0, len(place.data)
        self._reassembled[key] = place.data
        if len(self._reassembled) > MOST_REASSEMBLED:
            self._reassembled.popitem(last=False)

    def _lose(self, key: tuple[object, ...]) -> None:
        if self._waiting.pop(key).is_harmless:
            self._report.count("incomplete datagrams other than TCP")
        else:
            self._report.count_unread("datagrams with missing fragments")

    def finish(self) -> None:
        """Count the datagrams that are still incomplete."""
        for key in list(self._waiting):
            self._lose(key)


def _extension(place: Headers, unit: int = 8) -> Layer:
    protocol, size = place.peek(">BB")
    place.at += size * unit + 8
    return PROTOCOL, protocol
