"""TCP payload of packets that were pasted as hex."""

from __future__ import annotations

from ._errors import DumpError
from ._output import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Link types of tcpdump.org with the offset of the IP header: raw, loopback, Ethernet, Ethernet with a VLAN tag, Linux
# cooked 1 and 2.
_LINKS = ((101, 0), (0, 4), (1, 14), (1, 18), (113, 16), (276, 20))
_TCP = 6


def tcp_payload(dumps: Sequence[bytes]) -> bytes:
    """Return the payload of TCP packets of one direction, in the order of the stream; other bytes are unchanged.

    Raises DumpError for several dumps that are not packets of one direction, and for packets with missing bytes.
    """
    links = [_link_type(data) for data in dumps]
    if len(dumps) == 1 and links[0] is None:
        return dumps[0]
    from ..capture import Packet, TcpSegment, segments, streams

    packets = [
        Packet(number, None, link, data, len(data))
        for number, (link, data) in enumerate(zip(links, dumps, strict=True), 1)
        if link is not None
    ]
    if len(packets) < len(dumps):
        raise DumpError(f"the text has {len(dumps)} dumps, and not all are TCP packets; pass one dump")
    found: dict[str, bytes] = {}
    for each in streams(segments(packets)):
        if not isinstance(each, TcpSegment):
            continue
        other = each.connection.client if each.source == each.connection.server else each.connection.server
        if each.missing:
            raise DumpError(f"packet {each.packet} from {each.source}: {each.missing} bytes of the payload are missing")
        direction = f"{each.source} to {other}"
        found[direction] = found.get(direction, b"") + each.data
    if len(found) != 1:
        what = f"packets of {len(found)} directions: {', '.join(found)}" if found else "no TCP payload"
        raise DumpError(f"the text has {what}; pass packets of one direction that have a payload")
    note(f"the TCP payload from {next(iter(found))} is read, without headers")
    return next(iter(found.values()))


def _link_type(data: bytes) -> int | None:
    return next((link for link, start in _LINKS if _is_ip(data[start:])), None)


def _is_ip(data: bytes) -> bool:
    """Return whether headers of IP and TCP are there: IP without extensions, with the right length or checksum."""
    if len(data) < 40:
        return False
    size, protocol, length = (data[0] & 15) * 4, data[9], int.from_bytes(data[2:4], "big")
    if data[0] == 0x60:
        size, protocol, length = 40, data[6], int.from_bytes(data[4:6], "big") + 40
    elif data[0] >> 4 != 4 or size < 20:
        return False
    offset = (data[size + 12] >> 4) * 4 if len(data) >= size + 20 else 0
    total = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, size, 2))
    has_checksum = data[0] != 0x60 and total % 0xFFFF == 0
    return protocol == _TCP and offset >= 20 and (length == len(data) or has_checksum)
