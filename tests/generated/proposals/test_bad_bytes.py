"""Invalid nullable structs, and truncated and mutated bytes of every message in specs/proposals."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages_proposals import AllTypesRequest, DecodeError, NullableAssignment
from kafka_messages_proposals.messages.all_types_request import Content, Wrapper

from tests.support.proposal_errors import NAMES, PACKAGE, decode_error
from tests.support.random_messages import messages, versions_of

PRESENCE = [
    ("", 0, "assignment: INT8: 1 byte needed at offset 0, 0 left"),
    ("01", 0, "assignment.error: INT8: 1 byte needed at offset 1, 0 left"),
    ("01 05 00000001", 0, "assignment.assigned_topic_partitions: array of 1 elements at offset 2, but only 0 bytes left"),
    ("01 05 00000000 ffffffff", 0, "assignment.pending_topic_partitions: unexpected null at offset 6 in this version"),
    ("ff 00", 0, "1 byte(s) left after the message, at offset 1"),
    ("ff 01 00 00", 1, "previous: UNSIGNED_VARINT: 1 byte needed at offset 4, 0 left"),
    ("ff 01 00 01 01", 1, "previous.epoch: INT32: 4 bytes needed at offset 5, 0 left"),
    ("ff 01 00 02 00 00", 1, "previous: tagged field 0 has size 2 at offset 4, but its value takes 1"),
    ("ff 01 00 06 8080808080 00", 1, "previous: UNSIGNED_VARINT at offset 4 has more than 5 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "version", "text"), PRESENCE)
def test_invalid_nullable_structs_raise_decode_error(data: str, version: int, text: str) -> None:
    assert (
        str(decode_error(NullableAssignment, version, bytes.fromhex(data))) == f"NullableAssignment v{version}: {text}"
    )


@pytest.mark.parametrize("mark", range(256))
def test_every_presence_byte_means_null_or_present(mark: int) -> None:
    struct = bytes.fromhex("05 00000000 00000000 0002 00000000")
    if mark > 127:
        assert NullableAssignment.read(bytes([mark]), 0) == NullableAssignment()
        decode_error(NullableAssignment, 0, bytes([mark]) + struct)
    else:
        assert NullableAssignment.read(bytes([mark]) + struct, 0).write(0) == b"\x01" + struct
        decode_error(NullableAssignment, 0, bytes([mark]))


def sample_encodings(name: str, seed: int, mixed: int) -> Iterator[tuple[Any, int, bytes]]:
    """Yield short random messages of every version as bytes."""
    cls = PACKAGE.message(name)
    for version in versions_of(cls):
        for message in messages(cls, version, seed, mixed):
            data = message.write(version)
            if len(data) < 6000:
                yield cls, version, data


@pytest.mark.parametrize("name", NAMES)
def test_truncated_messages_raise_decode_error(name: str) -> None:
    for cls, version, data in sample_encodings(name, seed=1, mixed=2):
        cuts = range(len(data)) if len(data) < 700 else random.Random(name).sample(range(len(data)), 700)
        for cut in cuts:
            error = decode_error(cls, version, data[:cut])
            assert error.offset <= cut
            assert "offset" in str(error)


@pytest.mark.parametrize("name", NAMES)
def test_trailing_bytes_raise_decode_error(name: str) -> None:
    for cls, version, data in sample_encodings(name, seed=2, mixed=2):
        error = decode_error(cls, version, data + b"\0")
        reason = f"1 byte(s) left after the message, at offset {len(data)}"
        assert str(error) == f"{name} v{version}: {reason}"
        _, end = cls.read_from(b"\0" + data + b"\0", 1, version)
        assert end == len(data) + 1


CHANGES = [b"", b"\0", b"\x01", b"\x02", b"\x7f", b"\x80", b"\xff", b"\x80\0", b"\x80\x80\0", b"\xff" * 4]
CHANGES += [b"\xff" * 4 + b"\x0f", b"\xff" * 4 + b"\x7f", b"\xff" * 9 + b"\x01", b"\xff" * 9 + b"\x03", b"\xff" * 11]


@pytest.mark.parametrize("name", NAMES)
def test_mutated_bytes_are_rejected_or_re_encodable(name: str) -> None:
    for cls, version, data in sample_encodings(name, seed=3, mixed=3):
        draw = random.Random(f"{name} {version} {len(data)}")
        for _ in range(60 if data else 0):
            at = draw.randrange(len(data))
            changed = data[:at] + draw.choice(CHANGES) + data[at + draw.choice((0, 1, 1, 1, 2)) :]
            try:
                message = cls.read(changed, version)
            except DecodeError:
                decode_error(cls, version, changed)
                continue
            written = message.write(version)
            assert message.size(version) == len(written)
            struct, end = cls.schemas()[version].read(changed)
            assert end == len(changed)
            for value in (message, struct):
                out = bytearray()
                cls.schemas()[version].write(out, value)
                assert bytes(out) == written


def test_70000_elements_that_contain_only_a_struct_round_trip() -> None:
    message = AllTypesRequest(wrappers=[Wrapper(content=Content(size=1))] * 70000)
    assert AllTypesRequest.read(message.write(0), 0) == message
