"""Reader for Kafka traffic in pcap, pcapng, or the text of "Follow TCP Stream".

* ``open_capture(path)`` returns a ``Capture``, which yields an ``Exchange`` for each request and its response.
* Steps for packets: ``read_packets`` -> ``segments`` -> ``streams`` -> ``frames`` -> ``exchanges``.
* Steps for text: ``follow_pieces`` -> ``frames`` -> ``exchanges``.
* ``to_object`` and ``to_line`` format an exchange. ``Clients`` collects the API versions that clients use.
* ``CaptureReport`` counts the data read, and lists problems.
"""

from __future__ import annotations

from ..packets.files import Packet, is_capture, read_packets
from ..packets.report import CaptureError, CaptureReport
from ..packets.segments import Segment, SocketAddress, segments
from .capture_file import Capture, open_capture
from .client_report import Client, Clients
from .display import to_head, to_line, to_object
from .errors import FoundError, errors_in
from .exchange_filter import ExchangeFilter, api_keys, error_codes
from .follow import follow_pieces, is_followed
from .framing import Frame, frames
from .matching import Exchange, events, exchanges
from .reassembly import End, TcpConnection, TcpSegment, streams

__all__ = [
    "Capture",
    "CaptureError",
    "CaptureReport",
    "Client",
    "Clients",
    "End",
    "Exchange",
    "ExchangeFilter",
    "FoundError",
    "Frame",
    "Packet",
    "Segment",
    "SocketAddress",
    "TcpConnection",
    "TcpSegment",
    "api_keys",
    "error_codes",
    "errors_in",
    "events",
    "exchanges",
    "follow_pieces",
    "frames",
    "is_capture",
    "is_followed",
    "open_capture",
    "read_packets",
    "segments",
    "streams",
    "to_head",
    "to_line",
    "to_object",
]
