"""Compare small requests and responses with headers to our codec alone and to kafka-python.

    python benchmarks/envelope.py [--rounds N]

KAFKA_MESSAGES_NATIVE=0 measures the pure code.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from io import BytesIO
from statistics import median
from time import process_time_ns

from kafka.protocol.consumer.group import HeartbeatRequest as TheirRequest
from kafka.protocol.consumer.group import HeartbeatResponse as TheirResponse
from kafka_messages import HeartbeatRequest, HeartbeatResponse, implementation
from kafka_messages.protocol import decode_request, decode_response, encode_request, encode_response
from markdown import table

VERSION = 4
MEMBER = "consumer-1-7d1b3c5e-0a4f-4c5d-9e2b-1f6a8b9c0d1e"
# Calls per measurement.
TIMES = 2000
Call = Callable[[], object]


def calls() -> dict[str, tuple[Call, Call, Call]]:
    """Return calls by direction: our codec with header and length, our codec alone, kafka-python with header and length."""
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
            lambda: theirs.encode(header=True, framed=True),
        ),
        "decode a request": (
            lambda: decode_request(request),
            lambda: HeartbeatRequest.read(body, VERSION),
            lambda: TheirRequest.decode(BytesIO(request), version=VERSION, header=True),
        ),
        "encode a response": (
            lambda: encode_response(answer, VERSION, 7),
            lambda: answer.write(VERSION),
            lambda: their_answer.encode(header=True, framed=True),
        ),
        "decode a response": (
            lambda: decode_response(response, HeartbeatResponse, VERSION),
            lambda: HeartbeatResponse.read(answered, VERSION),
            lambda: TheirResponse.decode(BytesIO(response), version=VERSION, header=True),
        ),
    }


def microseconds(call: Call) -> float:
    start = process_time_ns()
    for _ in range(TIMES):
        call()
    return (process_time_ns() - start) / TIMES / 1000


def main() -> None:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = range(parser.parse_args().rounds)
    rows = []
    for name, three in calls().items():
        times = [[microseconds(call) for call in three] for _ in rounds]
        ours, codec, theirs = (median(each) for each in zip(*times, strict=True))
        rows.append((name, f"{ours:.2f}", f"{codec:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}"))
    print(f"Heartbeat v{VERSION}, {implementation()}\n")
    print(*table(("", "ours µs", "our codec alone", "kafka-python", "times as fast"), rows), sep="\n")


if __name__ == "__main__":
    main()
