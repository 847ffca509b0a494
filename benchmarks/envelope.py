"""Compare small requests and responses with headers to our codec alone, to kio and to kafka-python.

    python benchmarks/envelope.py [--rounds N] [--before FOLDER]

KAFKA_MESSAGES_NATIVE=0 measures the pure code. ``--before`` compares with the package in another folder instead, such as
``generated/src`` of an older checkout: each round measures both in new processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Hashable, Sequence
from io import BytesIO
from statistics import median
from time import process_time_ns
from typing import Any

import kafka_messages
from kafka.protocol.consumer.group import HeartbeatRequest as TheirRequest
from kafka.protocol.consumer.group import HeartbeatResponse as TheirResponse
from kafka_messages import HeartbeatRequest, HeartbeatResponse, implementation
from kafka_messages.connection import ProxyConnection
from kafka_messages.protocol import decode_request, decode_response, encode_request, encode_response, frame
from kio.schema.heartbeat.v4 import request as kio_request
from kio.schema.heartbeat.v4 import response as kio_response
from kio.schema.request_header.v2.header import RequestHeader as KioRequestHeader
from kio.schema.response_header.v1.header import ResponseHeader as KioResponseHeader
from kio.serial import entity_reader
from markdown import table

VERSION = 4
MEMBER = "consumer-1-7d1b3c5e-0a4f-4c5d-9e2b-1f6a8b9c0d1e"
# Calls per measurement.
TIMES = 2000
Call = Callable[[], object]


def kio_decoding(key: Hashable, header: type, message: type, data: bytes) -> Call:
    """Return a call that finds the readers of a frame by ``key``, and reads header and message."""
    readers: dict[Hashable, tuple[Any, Any]] = {key: (entity_reader(header), entity_reader(message))}

    def decode() -> object:
        of_header, of_message = readers[data[:4] if isinstance(key, bytes) else key]
        found, start = of_header(data, 0)
        body, size = of_message(data, start)
        return found, body, data[start + size :]

    return decode


def calls() -> dict[str, tuple[Call | None, ...]]:
    """Return calls by direction, each with header and length: ours, our codec without them, kio, kafka-python."""
    ours = HeartbeatRequest(group_id="billing", generation_id=5, member_id=MEMBER)
    answer = HeartbeatResponse()
    body, answered = ours.write(VERSION), answer.write(VERSION)
    request = encode_request(ours, VERSION, 7, "client-1", framed=False)
    response = encode_response(answer, VERSION, 7, framed=False)

    theirs = TheirRequest(
        version=VERSION, group_id="billing", generation_id=5, member_id=MEMBER, group_instance_id=None
    )
    theirs.with_header(correlation_id=7, client_id="client-1")
    their_answer = TheirResponse(version=VERSION, throttle_time_ms=0, error_code=0)
    their_answer.with_header(correlation_id=7)
    if (
        theirs.encode(header=True, framed=False) != request
        or their_answer.encode(header=True, framed=False) != response
    ):
        raise SystemExit("the codecs wrote different bytes")
    return {
        "encode a request": (
            lambda: encode_request(ours, VERSION, 7, "client-1"),
            lambda: ours.write(VERSION),
            None,
            lambda: theirs.encode(header=True, framed=True),
        ),
        "decode a request": (
            lambda: decode_request(request),
            lambda: HeartbeatRequest.read(body, VERSION),
            kio_decoding(request[:4], KioRequestHeader, kio_request.HeartbeatRequest, request),
            lambda: TheirRequest.decode(BytesIO(request), version=VERSION, header=True),
        ),
        "encode a response": (
            lambda: encode_response(answer, VERSION, 7),
            lambda: answer.write(VERSION),
            None,
            lambda: their_answer.encode(header=True, framed=True),
        ),
        "decode a response": (
            lambda: decode_response(response, HeartbeatResponse, VERSION),
            lambda: HeartbeatResponse.read(answered, VERSION),
            kio_decoding((12, VERSION), KioResponseHeader, kio_response.HeartbeatResponse, response),
            lambda: TheirResponse.decode(BytesIO(response), version=VERSION, header=True),
        ),
        "encode a decoded request": (decode_request(request).encode, None, None, None),
        "encode a decoded response": (decode_response(response, HeartbeatResponse, VERSION).encode, None, None, None),
        "forward a request and its response": (forwarding(1, request, response), None, None, None),
        "the same, 10 in one call": (forwarding(10, request, response), None, None, None),
    }


def forwarding(count: int, request: bytes, response: bytes) -> Call:
    """Return a call that passes frames through a proxy, undecoded."""
    proxy, there, back = ProxyConnection([]), frame(request) * count, frame(response) * count

    def forward() -> None:
        for _ in proxy.receive_from_client(there):
            pass
        for _ in proxy.receive_from_broker(back):
            pass

    return forward


def microseconds(call: Call) -> float:
    start = process_time_ns()
    for _ in range(TIMES):
        call()
    return (process_time_ns() - start) / TIMES / 1000


def measured() -> dict[str, list[float | None]]:
    return {name: [each and microseconds(each) for each in row] for name, row in calls().items()}


def measured_in(folder: str) -> dict[str, float]:
    """Measure the package of a folder in a new process; the second measurement counts."""
    here = os.path.dirname(os.path.abspath(__file__))  # not in PYTHONPATH, where its encodings.py would hide Python's
    code = "import json, sys; sys.path.append(sys.argv[1]); import envelope; envelope.measured(); "
    code += "print(json.dumps(envelope.measured()))"
    command = [sys.executable, "-c", code, here]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": folder}, stdout=subprocess.PIPE, text=True, check=True
    )
    return {name: row[0] for name, row in json.loads(done.stdout).items()}


def shown(times: Sequence[float | None]) -> float | None:
    return median(each for each in times if each is not None) if times[0] is not None else None


def main() -> None:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--before", metavar="FOLDER", help="compare with the package in this folder")
    options = parser.parse_args()
    print(f"Heartbeat v{VERSION}, {implementation()}\n")
    rows: list[tuple[str, ...]] = []
    if options.before:
        now = os.path.dirname(os.path.dirname(os.path.abspath(kafka_messages.__file__)))
        rounds = [(measured_in(options.before), measured_in(now)) for _ in range(options.rounds)]
        for name in rounds[0][0]:
            before, after = (median(each[side][name] for each in rounds) for side in (0, 1))
            rows.append((name, f"{before:.2f}", f"{after:.2f}", f"{after / before:.2f}"))
        print(*table(("", "before µs", "now", "ratio"), rows), sep="\n")
        return
    found = [measured() for _ in range(options.rounds)]
    for name in found[0]:
        ours, *others = (shown(times) for times in zip(*(each[name] for each in found), strict=True))
        ratios = ["" if each is None else f"{each / (ours or 1):.2f}" for each in others[1:]]
        texts = ["" if each is None else f"{each:.2f}" for each in (ours, *others)]
        rows.append((name, *texts, *ratios))
    titles = ("", "ours µs", "our codec alone", "kio", "kafka-python", "kio ÷ ours", "kafka-python ÷ ours")
    print(*table(titles, rows), sep="\n")


if __name__ == "__main__":
    main()
