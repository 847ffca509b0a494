"""Link layers, VLAN tags and MPLS, by tcpdump.org's list of link types and the IEEE's list of ethertypes."""

from __future__ import annotations

from struct import unpack_from

from .headers import ETHERNET, ETHERTYPE, IP, LINK, NOT_IP, Headers, Layer, Reader, Skipped, Unread

_IPV4, _IPV6 = (ETHERTYPE, 0x0800), (ETHERTYPE, 0x86DD)


def _typed(form: str) -> Reader:
    """Return the reader of a header with an ethertype, or with a length and then LLC."""

    def read(place: Headers) -> Layer:
        (kind,) = place.take(form)
        return _llc(place) if kind < 1536 else (ETHERTYPE, kind)

    return read


def _llc(place: Headers) -> Layer:
    """Skip LLC before IP, or LLC and SNAP with an ethertype (RFC 1042, 802.1H) or a bridged frame (RFC 2684)."""
    (head,) = place.peek(">3s")
    if head == b"\6\6\3":
        place.at += 3
        return _IPV4
    if head != b"\xaa\xaa\3":
        raise Skipped(NOT_IP)
    organization, kind = place.take(">3x3sH")
    if organization == b"\0\x80\xc2" and kind in (1, 7):
        place.at += 2
        return ETHERNET
    if organization not in (b"\0\0\0", b"\0\0\xf8"):
        raise Skipped(NOT_IP)
    return ETHERTYPE, kind


def _loopback(place: Headers) -> Layer:
    place.at += 4  # the address family, whose numbers depend on the capturing system
    return IP


def _raw(place: Headers) -> Layer:
    return _IPV6 if place.data[place.at] >> 4 == 6 else _IPV4


def _nflog(place: Headers) -> Layer:
    """Find the payload among the attributes, whose types are less than 256, in the capturing machine's byte order."""
    data, at, layer = place.data, place.at + 4, IP
    order = "<" if data[at + 3] == 0 else ">"
    while True:
        size, kind = unpack_from(f"{order}HH", data, at)
        if size < 4:
            raise Unread("packets with an invalid NFLOG header")
        if kind == 1 and data[place.at] not in (2, 10):  # a family other than IPv4 and IPv6, such as a bridge
            layer = (ETHERTYPE, *unpack_from(">H", data, at + 4))
        if kind == 9:
            place.at = at + 4
            place.limit(at + size)
            return layer
        at += size + 3 & ~3


def _pktap(place: Headers) -> Layer:
    """Skip Apple's header: its length, whether a packet follows, and the link type of that packet, little-endian."""
    size, has_packet, link = unpack_from("<III", place.data, place.at)
    if not has_packet:
        raise Skipped(NOT_IP)
    if size < 12:
        raise Unread("packets with an invalid PKTAP header")
    place.at += size
    return LINK, link


def _mpls(place: Headers) -> Layer:
    """Skip a label stack (RFC 3032) before IP or Ethernet, and the control word of RFC 4448."""
    while not place.take(">I")[0] & 0x100:
        pass
    first = place.data[place.at] >> 4
    if first in (4, 6):
        return IP
    (kind,) = place.peek(">12xH")
    if first > 1 or (ETHERTYPE, kind) in (_IPV4, _IPV6, (ETHERTYPE, 0x0806), *LINKS):
        return ETHERNET
    if first == 1:  # maintenance (RFC 5586)
        raise Skipped(NOT_IP)
    place.at += 4
    return ETHERNET


LINKS: dict[Layer, Reader] = {
    ETHERNET: _typed(">12xH"),
    **{(LINK, number): _loopback for number in (0, 108)},
    **{(LINK, number): _raw for number in (12, 14, 101, 228, 229)},
    (LINK, 113): _typed(">14xH"),
    (LINK, 239): _nflog,
    (LINK, 258): _pktap,
    (LINK, 276): _typed(">H18x"),
    **{(ETHERTYPE, number): _typed(">2xH") for number in (0x8100, 0x88A8, 0x9100, 0x9200)},
    **{(ETHERTYPE, number): _mpls for number in (0x8847, 0x8848)},
    (ETHERTYPE, 0x6558): _typed(">12xH"),
}
