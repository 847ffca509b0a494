"""Tunnels: GRE with ERSPAN, and those in UDP, by IANA's lists of protocols and ports."""

from __future__ import annotations

import re

from .headers import ETHERNET, ETHERTYPE, IP, NOT_TCP, PROTOCOL, TRUNCATED, Headers, Layer, Skipped, Unread

_CHECKSUM, _ROUTING, _KEY, _SEQUENCE, _VERSION = 0x8000, 0x4000, 0x2000, 0x1000, 7
_PPP, _ERSPAN, _ERSPAN_3 = 0x880B, 0x88BE, 0x22EB
# Number of bytes that show whether a datagram is a tunnel.
_LONGEST = 9


def _gre(place: Headers) -> Layer:
    """Skip GRE (RFC 2784, RFC 2890), also with the routing field of RFC 1701. Version 1 carries PPP (RFC 2637)."""
    flags, kind = place.take(">HH")
    if flags & _VERSION and kind != _PPP:
        return f"GRE version {flags & _VERSION}", 0
    place.at += 4 * (bool(flags & (_CHECKSUM | _ROUTING)) + bool(flags & _KEY) + bool(flags & _SEQUENCE))
    while flags & _ROUTING:
        (size,) = place.take(">3xB")
        if size == 0:
            break
        place.at += size
    if kind == _ERSPAN and not flags & _SEQUENCE:
        return ETHERNET  # type I has no header of its own
    return _erspan(place) if kind in (_ERSPAN, _ERSPAN_3) else (ETHERTYPE, kind)


def _erspan(place: Headers) -> Layer:
    """Skip ERSPAN of type II (version 1) or III (version 2), as in draft-foschiano-erspan."""
    version = place.data[place.at] >> 4
    if version not in (1, 2):
        return f"ERSPAN version {version}", 0
    (flags,) = place.take(">10xH") if version == 2 else (0, *place.take(">8x"))
    place.at += 8 * (flags & 1)  # the subheader of a platform
    frame = flags >> 10 & 31
    if frame not in (0, 2):
        return f"ERSPAN with frame type {frame}", 0
    return IP if frame else ETHERNET


def _vxlan(place: Headers) -> Layer:
    place.at += 8
    return ETHERNET


def _geneve(place: Headers) -> Layer:
    size, flags, kind = place.peek(">BBH")
    if flags & 0x80:  # a control message
        raise Skipped(NOT_TCP)
    place.at += 8 + (size & 63) * 4
    return ETHERTYPE, kind


def _lisp(place: Headers) -> Layer:
    place.at += 8
    return IP


# By port of either side, the start of a datagram that receivers accept, and its layer: LISP (RFC 9300), GRE (RFC 8086),
# VXLAN (RFC 7348, on Linux also 8472), GENEVE (RFC 8926), MPLS (RFC 7510). Those with a name and 0 are not read.
_PORTS = {
    1701: (rb"[\0-\x7f][\x02\x03]", ("L2TP", 0)),
    2152: (rb"[\x30-\x3f]\xff", ("GTP-U", 0)),
    3544: (rb"[\x60-\x6f]|\0[\0\x01]", ("Teredo", 0)),
    4341: (rb".{8}[\x45-\x4f\x60-\x6f]", ("UDP tunnel", 4341)),
    4500: (rb"(?!\0{4}).{8}", ("ESP", 0)),
    4754: (rb"[\0\x10\x20\x30\x80\x90\xa0\xb0]\0[\x06-\xff]", (PROTOCOL, 47)),
    4789: (rb"[\x08\x88].{6}\0", ("UDP tunnel", 4789)),
    4790: (rb"[\x04-\x0f]", ("VXLAN-GPE", 0)),
    5247: (rb"\0[\x10-\xff]|\x01\0{3}", ("CAPWAP", 0)),
    6081: (rb"[\0-\x3f][\0\x40\x80\xc0].{5}\0", ("UDP tunnel", 6081)),
    6635: (rb".{3}[^\0]", (ETHERTYPE, 0x8847)),
    8472: (rb"[\x08\x88].{6}\0", ("UDP tunnel", 4789)),
    37008: (rb"\x01[\0\x01]", ("TZSP", 0)),
    51820: (rb"\x04\0{3}", ("WireGuard", 0)),
}


def udp_tunnel(place: Headers) -> Layer | None:
    """Return the layer in a UDP datagram that is a tunnel."""
    ports = place.peek(">HH")
    known = [_PORTS[port] for port in reversed(ports) if port in _PORTS]
    start = place.at + 8
    if place.stop < start - 4 or (known and place.stop < min(start + _LONGEST, place.end)):
        raise Unread(TRUNCATED)
    found = (layer for start_of, layer in known if re.compile(start_of, re.DOTALL).match(place.data, start, place.stop))
    return next(found, None)


def _udp(place: Headers) -> Layer:
    if (found := udp_tunnel(place)) is None:
        raise Skipped(NOT_TCP)
    place.at += 8
    return found


TUNNELS = {
    (PROTOCOL, 17): _udp,
    (PROTOCOL, 47): _gre,
    ("UDP tunnel", 4341): _lisp,
    ("UDP tunnel", 4789): _vxlan,
    ("UDP tunnel", 6081): _geneve,
}
