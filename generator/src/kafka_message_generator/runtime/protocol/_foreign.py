"""Recognition of bytes that are not Kafka's protocol: the usual mistakes of ports, TLS and SASL settings."""

from __future__ import annotations

import re

from .._core.wire import as_bytes
from ._framing import MAX_FRAME_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._core.wire import BytesLike

# Content types of TLS records (RFC 8446, section 5.1), and handshake types (section 4).
_TLS_RECORDS = {20: "a TLS ChangeCipherSpec", 21: "a TLS alert", 22: "a TLS handshake record", 23: "TLS data"}
_TLS_HANDSHAKES = {1: "a TLS ClientHello", 2: "a TLS ServerHello"}
_SASL_PLAIN = re.compile(rb"[^\0]{0,255}\0[^\0]{1,255}\0[^\0]{1,255}")  # RFC 4616
# RFC 9112; RFC 9113, section 3.4; RFC 7628; RFC 5802; ZooKeeper's administrator's guide, "The Four Letter Words";
# HAProxy's "The PROXY protocol", sections 2.1 and 2.2.
_BEGINNINGS = (
    (re.compile(rb"PRI \* HTTP/2\.0\r\n"), "an HTTP/2 client preface"),
    (re.compile(rb"(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) [^\r\n ]+ HTTP/1\."), "an HTTP/1 request"),
    (re.compile(rb"(?:GET |HEAD|POST|PUT |DELE|OPTI|PATC|CONN|TRAC)\Z"), "an HTTP/1 request"),  # the first 4 bytes
    (re.compile(rb"HTTP/1\.[01] \d"), "an HTTP/1 response"),
    (
        re.compile(
            rb"(?:conf|cons|crst|dirs|dump|envi|gtmk|hash|icfg|imok|isro|lead|mntr|obsr|orst|ruok|srst|srvr|stat|stmk|"
            rb"sysp|wchc|wchp|wchs)\s*\Z"
        ),
        "a four-letter word of ZooKeeper",
    ),
    (re.compile(rb"PROXY (?:TCP[46]|UNKNOWN)[ \r]|PROX\Z"), "a PROXY protocol header (version 1)"),
    (re.compile(rb"\r\n\r\n(?:\0\r\nQUIT\n|\Z)"), "a PROXY protocol header (version 2)"),
    (re.compile(rb"n,(?:a=[^,]*)?,\x01auth="), "a SASL/OAUTHBEARER token without a frame"),
    (re.compile(rb"[ny],(?:a=[^,]*)?,(?:m=[^,]*,)?n=[^,]*,r="), "a SASL/SCRAM token without a frame"),
)
# HTTP/2 frames start with length, type, flags and stream id (RFC 9113, section 4.1). Flags and stream id of the first
# SETTINGS are 0. After an empty one: SETTINGS, PING, GOAWAY or WINDOW_UPDATE of the whole connection.
_HTTP2_SETTINGS = b"\x04\0\0\0\0\0"
_HTTP2_NEXT = re.compile(rb"\0[\0-\x3f].[\x04\x06-\x08][\0\x01]\0\0\0\0", re.DOTALL)
_HTTP2_IDS = range(1, 10)


def foreign_protocol(data: BytesLike) -> str | None:
    """Return what the first bytes of a stream look like, such as ``a TLS ClientHello``; None if they may be a frame.

    Recognizes TLS and SSLv2, HTTP/1 and HTTP/2, ZooKeeper's four-letter words, the PROXY protocol, SASL tokens without a
    frame, and frame lengths above 100 MiB. The result is a guess for error messages, and contains no byte of ``data``.
    """
    data = as_bytes(data)
    return known_protocol(data) or _too_long(data)


def known_protocol(data: bytes) -> str | None:
    found = next((name for pattern, name in _BEGINNINGS if pattern.match(data)), None)
    return found or _http2(data) or _tls(data) or _sasl(data)


def _http2(data: bytes) -> str | None:
    """Recognize a whole SETTINGS frame; a response with correlation id 0 can have the same first bytes."""
    size, start = int.from_bytes(data[:3], "big"), 3 + len(_HTTP2_SETTINGS)
    if not data.startswith(_HTTP2_SETTINGS, 3) or len(data) < start + size or size % 6:
        return None
    ids = [int.from_bytes(data[at : at + 2], "big") for at in range(start, start + size, 6)]
    is_preface = all(each in _HTTP2_IDS for each in ids) if ids else _HTTP2_NEXT.match(data, start)
    return "an HTTP/2 server preface (SETTINGS)" if is_preface else None


def _tls(data: bytes) -> str | None:
    if len(data) >= 3 and data[0] in _TLS_RECORDS and data[1] == 3 and data[2] <= 4:
        is_handshake = data[0] == 22 and len(data) > 5
        return _TLS_HANDSHAKES.get(data[5], _TLS_RECORDS[22]) if is_handshake else _TLS_RECORDS[data[0]]
    if (
        len(data) >= 5
        and data[0] & 0x80
        and data[2] == 1
        and data[3:5] in (b"\0\2", b"\3\0", b"\3\1", b"\3\2", b"\3\3")
    ):
        return "an SSLv2 ClientHello"
    return None


def _sasl(data: bytes) -> str | None:
    if data[:1] == b"\x60" and b"\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02" in data[:20]:
        return "a SASL/GSSAPI token without a frame"  # object identifier of Kerberos (RFC 4121, section 4.1)
    if _SASL_PLAIN.fullmatch(data) is None:
        return None
    try:
        parts = data.decode().split("\0")
    except UnicodeDecodeError:
        return None
    return "a SASL/PLAIN token without a frame" if all(part.isprintable() for part in parts) else None


def _too_long(data: bytes) -> str | None:
    size = int.from_bytes(data[:4], "big", signed=True)
    return "a frame length above 100 MiB" if len(data) >= 4 and size > MAX_FRAME_SIZE else None
