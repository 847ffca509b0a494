"""Cost of a DecodeError in a long frame: the error location is computed once."""

from __future__ import annotations

import pytest
from kafka_messages import DecodeError, DescribeGroupsRequest, MetadataResponse
from kafka_messages.connection import ProxyConnection, RequestForwarded
from kafka_messages.protocol import encode_request
from kafka_messages.schema import Schema

from tests.support.implementations import pure, script
from tests.support.replaced import counting

CUT = DescribeGroupsRequest(groups=["a", "b"]).write(5)[:-1]
"""Truncated bytes; the error is unrelated to text."""
ODD = CUT.replace(b"a", b"\xe9")
"""The same bytes with invalid UTF-8 before the error."""
MISSING = "DescribeGroupsRequest v5: _tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset 6, 0 left"


def error_and_walk_count(data: bytes) -> tuple[str, int]:
    """Return the error of reading with escaped text, and the number of walks needed to describe it."""
    with counting(Schema.skip) as counts, pytest.raises(DecodeError) as caught:
        DescribeGroupsRequest.read(data, 5, text="surrogateescape")
    return str(caught.value), counts["skip"]


def test_error_unrelated_to_text_is_located_with_one_walk() -> None:
    assert error_and_walk_count(CUT) == (MISSING, 1)


def test_error_after_invalid_utf8_is_located_with_two_walks() -> None:
    assert error_and_walk_count(ODD) == (MISSING, 2)


def test_proxy_reports_the_decode_error() -> None:
    sent = encode_request(DescribeGroupsRequest(groups=["a", "b"]), 5, 1, framed=False)[:-1]
    passing = next(ProxyConnection().receive_from_client(len(sent).to_bytes(4, "big") + sent))
    assert isinstance(passing, RequestForwarded)
    missing = f"DescribeGroupsRequest v5: _tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset {len(sent)}, 0 left"
    assert str(passing.error) == missing


def test_memory_error_is_not_reported_as_decode_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def starved(data: bytes, pos: int) -> tuple[MetadataResponse, int]:
        raise MemoryError("no room")

    data = MetadataResponse().write(9)
    monkeypatch.setitem(MetadataResponse._codecs, 9, (starved, *MetadataResponse._codecs[9][1:]))
    with pure():
        for read in (lambda data: MetadataResponse.read(data, 9), lambda data: MetadataResponse.read_from(data, 0, 9)):
            with pytest.raises(MemoryError, match=r"^no room$"):
                read(data)
            with pytest.raises(DecodeError) as caught:
                read(data[:-1])
            assert (
                str(caught.value)
                == f"MetadataResponse v9: _tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset {len(data) - 1}, 0 left"
            )


@pytest.mark.parametrize("switch", ["0", "1"])
def test_failed_allocation_raises_only_memory_error(switch: str) -> None:
    pytest.importorskip("_testcapi")
    text = """
import gc
from _testcapi import remove_mem_hooks, set_nomemory
from kafka_messages import MetadataResponse
from tests.support.topics import response
data = response().write(9)
expected = MetadataResponse.read(data, 9)
try:
    MetadataResponse.read(data[:-1], 9)
except ValueError:
    pass
gc.disable()
errors = set()
for number in range(120):
    found = None
    try:
        set_nomemory(number, number + 1)
        try:
            found = MetadataResponse.read(data, 9)
        finally:
            remove_mem_hooks()
    except Exception as error:
        errors.add(type(error).__name__)
    assert found in (None, expected)
print(*sorted(errors))
"""
    assert script(text, KAFKA_MESSAGES_NATIVE=switch).split() in ([], ["MemoryError"])
