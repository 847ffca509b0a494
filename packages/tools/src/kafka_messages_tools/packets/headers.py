"""Position within the headers of a packet, and the reasons why a packet has no TCP segment."""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize, unpack_from
from typing import Any

# What follows a header: a registry and a number in it, or the name of a tunnel that is not read and 0.
Layer = tuple[str, int]
LINK, ETHERTYPE, PROTOCOL = "link type", "ethertype", "IP protocol"
ETHERNET = (LINK, 1)
# An IP packet, whose first byte has the version.
IP = (LINK, 101)

NOT_IP, NOT_TCP = "packets other than IP", "packets other than TCP"
TRUNCATED = "packets truncated within their headers"


class Skipped(Exception):
    """Packet that carries no TCP, such as ARP; the message is the name of the counter for such packets."""


class Unread(Skipped):
    """Packet that may carry TCP, in a form that is damaged or not supported."""


class Headers:
    """Reader of the headers of one packet."""

    def __init__(self, data: bytes, length: int) -> None:
        self.data = data
        # Offset of the next header.
        self.at = 0
        # End of the layer, beyond the captured bytes if the packet was truncated.
        self.end = length
        # End of the captured bytes of the layer.
        self.stop = len(data)
        # Addresses of the innermost IP header.
        self.source = self.target = b""

    def peek(self, form: str) -> tuple[Any, ...]:
        """Return the fields at the position. Raises struct.error if the packet is truncated."""
        return unpack_from(form, self.data, self.at)

    def take(self, form: str) -> tuple[Any, ...]:
        """Return the fields at the position, and move behind them."""
        found = unpack_from(form, self.data, self.at)
        self.at += calcsize(form)
        return found

    def limit(self, end: int) -> None:
        """Set the end of the layer. The outer layer still limits the captured bytes."""
        self.end, self.stop = end, min(self.stop, end)


# Reads a header, moves behind it, and returns the next layer.
Reader = Callable[[Headers], Layer]
