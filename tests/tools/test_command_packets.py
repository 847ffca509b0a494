"""Hex dumps of TCP packets as input: tcpdump and tshark, link layers, and dumps that are rejected."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.support.packets import ETHERNET, NULL, RAW, SLL, SLL2, ipv4, ipv6, linked, tcp
from tests.tools.test_command_input import Rejection, auto

DATA = bytes.fromhex("0000001e001200030000000700026d6500056a61766106342e342e3001e807012a00")
NOTE = "note: the TCP payload from {} is read, without headers\n"
PORTS = (40000, 9092)
DIRECTION = "10.0.0.1:40000 to 10.0.0.2:9092"


def text_of(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def tcpdump(packets: Sequence[bytes]) -> str:
    """Return the output of ``tcpdump -v -X``."""
    lines = []
    for packet in packets:
        lines += [
            "05:43:25.380895 IP (tos 0x0, ttl 64, id 31724, offset 0, flags [DF], proto TCP (6), length 122)",
            "    10.0.0.1.40000 > 10.0.0.2.9092: Flags [P.], cksum 0xfe6e (incorrect -> 0x976d), length 70",
        ]
        for at in range(0, len(packet), 16):
            part = packet[at : at + 16]
            lines.append(f"\t0x{at:04x}:  {part.hex(' ', -2):<39}  {text_of(part)}")
    return "\n".join([*lines, ""])


def tshark(packets: Sequence[bytes], summary: str = "") -> str:
    """Return the output of ``tshark -x``, with ``-P`` if there is a summary."""
    lines = []
    for packet in packets:
        lines += [summary, ""] if summary else []
        for at in range(0, len(packet), 16):
            part = packet[at : at + 16]
            lines.append(f"{at:04x}  {part.hex(' '):<47}   {text_of(part)}")
        lines.append("")
    return "\n".join(lines)


SUMMARY = "    4 0.000060052     10.0.0.1 → 10.0.0.2     TCP 142 40000 → 9092 [PSH, ACK] Seq=1 Ack=1 Len=34"


def stream(*parts: bytes, at: int = 1000) -> list[bytes]:
    found = []
    for part in parts:
        found.append(ipv4(tcp(*PORTS, at, part)))
        at += len(part)
    return found


@pytest.mark.parametrize("link", [RAW, NULL, ETHERNET, SLL, SLL2])
@pytest.mark.parametrize("packet", [ipv4(tcp(*PORTS, 1000, DATA)), ipv6(tcp(*PORTS, 1000, DATA))], ids=["IPv4", "IPv6"])
def test_headers_of_a_packet_are_skipped(packet: bytes, link: int, capsys: pytest.CaptureFixture[str]) -> None:
    whole = linked(packet, link)
    note = NOTE.format(DIRECTION if packet[0] == 0x45 else "[fd00::1]:40000 to [fd00::2]:9092")
    for text in (tcpdump([whole]), tshark([whole]), tshark([whole], SUMMARY), whole.hex(), whole.hex(" ")):
        assert (auto(text), capsys.readouterr().err) == (DATA, note)


def test_padding_of_a_short_frame_is_skipped() -> None:
    packet = bytearray(ipv4(tcp(*PORTS, 1000, DATA[:6])))
    total = sum(int.from_bytes(packet[at : at + 2], "big") for at in range(0, 20, 2))
    packet[10:12] = (~(total % 0xFFFF) & 0xFFFF).to_bytes(2, "big")
    assert auto(tshark([linked(bytes(packet), ETHERNET) + b"\0\0"])) == DATA[:6]


def test_tag_of_a_virtual_network_is_skipped() -> None:
    assert auto(tshark([linked(ipv4(tcp(*PORTS, 1000, DATA)), ETHERNET, (0x8100,))])) == DATA


@pytest.mark.parametrize("printed", [tcpdump, tshark])
def test_packets_of_one_direction_are_joined_in_order(printed: Callable[[Sequence[bytes]], str]) -> None:
    first, second, third = stream(DATA[:10], DATA[10:20], DATA[20:])
    empty = ipv4(tcp(*PORTS, 1000))
    assert auto(printed([empty, first, second, second, third])) == DATA
    assert auto(printed([empty, first, third, second])) == DATA


def test_bytes_that_are_no_packet_are_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    for data in (DATA, DATA * 4, bytes(80), b"E" * 80, b"`" * 80, ipv4(bytes(60))):
        assert auto(data.hex()) == data
        assert auto(tshark([data])) == data
    assert capsys.readouterr().err == ""


def without_lines(text: str, *removed: int) -> str:
    return "".join(line for at, line in enumerate(text.splitlines(keepends=True)) if at not in removed)


def test_headers_of_a_packet_in_a_literal_are_skipped() -> None:
    packet = ipv4(tcp(*PORTS, 1000, DATA))
    assert auto(repr(packet)) == auto(str(list(packet))) == DATA


FIRST, SECOND = stream(DATA[:10], DATA[10:])
ANSWER = ipv4(tcp(9092, 40000, 1, DATA), "10.0.0.2", "10.0.0.1")
ONE = "pass packets of one direction that have a payload"
REJECTED = {
    "both directions": (
        tcpdump([FIRST, ANSWER]),
        f"the text has packets of 2 directions: {DIRECTION}, 10.0.0.2:9092 to 10.0.0.1:40000; {ONE}",
    ),
    "no payload": (tcpdump([ipv4(tcp(*PORTS, 1000))]), f"the text has no TCP payload; {ONE}"),
    "a packet and other bytes": (
        tshark([FIRST, DATA]),
        "the text has 2 dumps, and not all are TCP packets; pass one dump",
    ),
    "a missing packet": (
        tcpdump([FIRST, stream(b"", DATA, at=1020)[1]]),
        "packet 2 from 10.0.0.1:40000: 10 bytes of the payload are missing",
    ),
    "a missing row": (
        without_lines(tcpdump([FIRST]), 3, 4),
        "the dump continues at the address 30, expected 10",
    ),
    "a missing row after a summary": (
        without_lines(tshark([FIRST], SUMMARY), 3),
        "the dump continues at the address 20, expected 10",
    ),
    "a missing row of the second packet": (
        without_lines(tshark([FIRST, SECOND]), 7),
        "the dump continues at the address 30, expected 20",
    ),
    "a missing first row": (
        without_lines(tcpdump([FIRST]), 2),
        "line 2 is not a row of the hex dump, which continues at the address 10",
    ),
    "a damaged row": (tcpdump([FIRST]).replace("0x0010:", "0x00g0:"), "line 4 is not a row of the hex dump"),
}


@pytest.mark.parametrize("case", REJECTED)
def test_unclear_dump_is_rejected(case: str, rejection: Rejection) -> None:
    text, says = REJECTED[case]
    assert rejection(text) == f"standard input: {says}"
