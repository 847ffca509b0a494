"""What an error in a long frame costs: the words for it are looked for once, not again for each rule for text."""

from __future__ import annotations

from unittest import mock

import pytest
from kafka_messages import DecodeError, DescribeGroupsRequest
from kafka_messages.connection import Middleman, RequestPassing
from kafka_messages.protocol import encode_request
from kafka_messages.schema import Schema

CUT = DescribeGroupsRequest(groups=["a", "b"]).write(5)[:-1]
"""An error at the end that has nothing to do with text."""
ODD = CUT.replace(b"a", b"\xe9")
"""The same behind text that is no UTF-8."""
MISSING = "DescribeGroupsRequest v5: UNSIGNED_VARINT: 1 byte needed at offset 6, 0 left"


def readings(data: bytes) -> tuple[str, int]:
    """The error of bytes that are read with escaped text, and how often they were read to find its words."""
    read, count = Schema.read, 0

    def counted(schema: Schema, data: bytes, pos: int = 0) -> object:
        nonlocal count
        count += 1
        return read(schema, data, pos)

    with mock.patch.object(Schema, "read", counted), pytest.raises(DecodeError) as caught:
        DescribeGroupsRequest.read(data, 5, text="surrogateescape")
    return str(caught.value), count


def test_an_error_that_is_not_about_text_is_looked_for_once() -> None:
    """It was looked for, then read with the other rule for text, and then looked for again: three times minutes."""
    assert readings(CUT) == (MISSING, 1)


def test_an_error_behind_text_that_is_no_utf_8() -> None:
    """Only then it takes another reading, whose own error is the one that is said."""
    assert readings(ODD) == (MISSING, 2)


def test_a_middleman_says_the_error_of_the_one_reading() -> None:
    """It reads with escaped text always; a request that is cut passes, with the same words."""
    sent = encode_request(DescribeGroupsRequest(groups=["a", "b"]), 5, 1, framed=False)[:-1]
    passing = next(Middleman().receive_from_client(len(sent).to_bytes(4, "big") + sent))
    assert isinstance(passing, RequestPassing)
    missing = f"DescribeGroupsRequest v5: UNSIGNED_VARINT: 1 byte needed at offset {len(sent)}, 0 left"
    assert str(passing.error) == missing
