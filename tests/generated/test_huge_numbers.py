"""Errors about integers above Python's limit for int/str conversion."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kafka_messages import HeartbeatRequest, ProduceRequest
from kafka_messages.connection import error_response
from kafka_messages.protocol import api, apis, encode_request

HUGE = 10**5000
NO_VERSION = "HeartbeatRequest has no version an unprintable int, only versions 0 to 4"
NO_TEXT = "text must be 'strict' or 'surrogateescape', not an unprintable int"


def test_repr_replaces_unprintable_integers() -> None:
    shown = "ProduceRequest(transactional_id=None, acks=<an unprintable int>, timeout_ms=0, "
    shown += "topic_data=TopicProduceDataCollection([]))"
    assert repr(ProduceRequest(acks=HUGE)) == shown
    partition = ProduceRequest.PartitionProduceData(index=-HUGE)
    assert repr(partition).startswith("PartitionProduceData(index=<an unprintable int>, ")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: HeartbeatRequest().write(HUGE), NO_VERSION),
        (lambda: HeartbeatRequest.read(b"", HUGE), NO_VERSION),
        (
            lambda: HeartbeatRequest.read_from(b"ab", HUGE, 4),
            "offset an unprintable int is outside the 2 bytes of data",
        ),
        (
            lambda: encode_request(HeartbeatRequest(), 4, HUGE),
            "RequestHeader v2: correlation_id: an unprintable int is out of range for INT32, -2147483648 to 2147483647",
        ),
        (
            lambda: error_response(HeartbeatRequest(), HUGE, version=4),
            "an error code must be an int16, not an unprintable int",
        ),
        (lambda: api(HUGE), f"unknown API key an unprintable int; known keys are 0 to {int(apis()[-1].key)}"),
        (lambda: HeartbeatRequest.read(b"", 4, text=HUGE), NO_TEXT),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_errors_replace_unprintable_integers(call: Callable[[], object], text: str) -> None:
    with pytest.raises((ValueError, LookupError)) as caught:
        call()
    assert str(caught.value) == text
