"""Damaged captures: reading ends in bounded time, with exchanges or CaptureError."""

from __future__ import annotations

import gzip
import io
import json
import random
import time

import pytest

from kafka_messages_tools.capture import Capture, CaptureError, Clients, to_line, to_object
from tests.support.captures import CAPTURES, DATA, captured
from tests.support.packets import pcap

ROUNDS = 60
SECONDS = 20
"""Time limit per capture; an undamaged one takes less than a second."""


def read_all(data: bytes) -> int:
    """Read a capture and format all exchanges; return their number."""
    clients = Clients()
    number = 0
    try:
        for exchange in Capture(io.BytesIO(data)):
            clients.add(exchange)
            json.dumps(to_object(exchange))
            to_line(exchange)
            number += 1
    except CaptureError:
        return -1
    [client.to_object() for client in clients]
    return number


def damaged(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 5, 50))):
        if len(out) < 2:
            break
        at = chance.randrange(len(out))
        match chance.randrange(4):
            case 0:
                out[at] = chance.randrange(256)
            case 1:
                del out[at : at + chance.randrange(1, 200)]
            case 2:
                out[at:at] = out[at : at + chance.randrange(1, 200)]
            case _:
                out[at : at + 4] = chance.choice((b"\xff" * 4, b"\x7f\xff\xff\xff", bytes(4), b"\x00\x01\x00\x00"))
    return bytes(out[: chance.randrange(len(out) + 1)] if chance.random() < 0.1 else out)


@pytest.mark.parametrize("name", [*(f"{each}.gz" for each in CAPTURES), "follow.hex.txt", "follow.yaml.txt"])
def test_damaged_file_is_read_in_bounded_time(name: str) -> None:
    data = captured(name[:-3]).read_bytes() if name.endswith(".gz") else (DATA / name).read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    whole = read_all(data)
    assert whole > 1
    chance = random.Random(14)
    counts = set()
    for _ in range(ROUNDS):
        start = time.monotonic()
        counts.add(read_all(damaged(data, chance)))
        assert time.monotonic() - start < SECONDS
    assert len(counts) > 1


def test_damaged_packets_are_read_without_error() -> None:
    from kafka_messages_tools.capture import read_packets

    data = gzip.decompress(captured("java.pcapng").read_bytes())
    packets = [packet.data for packet in read_packets(io.BytesIO(data))]
    chance = random.Random(14)
    counts = set()
    for _ in range(ROUNDS):
        some = [damaged(each, chance) if chance.random() < 0.1 else each for each in packets]
        if chance.random() < 0.2:
            chance.shuffle(some)
        counts.add(read_all(pcap(some, 1)))
    assert len(counts) > 5
