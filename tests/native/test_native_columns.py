"""Native columns equal columns made from message objects, for all vectors, damaged bytes, tags and texts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from unittest import mock

import kafka_messages
import kafka_messages_proposals
import kafka_messages_proposals.arrow
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from kafka_messages import FetchRequest, OffsetCommitValue
from kafka_messages.arrow import RowError, columns, decode, encode

from tests.support import random_messages
from tests.support.both_columns import (
    OFFSETS,
    ROWS,
    Versioned,
    are_same,
    assert_same,
    binary,
    both,
    damaged,
    exact,
    messages,
)
from tests.support.implementations import is_pure, script

pytest.importorskip("kafka_messages_native._columns")


NAMES = sorted(messages())
DECLINE = {"FetchRequest"}
"""Messages that native columns decline: the plan lacks defaults of a struct of other versions."""


@pytest.fixture
def native_results() -> Iterator[list[object]]:
    """Return a list that records the result of each native call; None if the extension declined it."""
    given: list[object] = []

    def kept(function: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            given.append(function(*args, **named))
            return given[-1]

        return call

    def wanted() -> bool:
        return not is_pure()

    def spied(function: Any) -> Any:
        spy = kept(function)
        return lambda *args, **named: spy(*args, **named) if wanted() else None

    natives = {name: spied(function) for name, function in vars(columns).items() if name in ("decoded", "encoded")}
    with mock.patch.multiple(columns, **natives):
        yield given


def arrays(data: list[bytes]) -> Iterator[Any]:
    """Yield arrays: each row alone; all rows repeated, with nulls in a slice, and with 64-bit offsets."""
    yield from (binary([each]) for each in data)
    yield binary(data * 30)
    yield binary([None, *(each for row in data for each in (row, None))], before=3)
    yield exact(pa.array(data, pa.large_binary()))


@pytest.mark.parametrize("name", NAMES)
def test_vectors_round_trip_like_message_objects(name: str, native_results: list[object]) -> None:
    message = messages()[name]
    for version in message.versions:
        for array in arrays(message.of(version)):
            found = assert_same("decode", array, message.cls, version)
            assert assert_same("encode", exact(found), message.cls, version).equals(array.cast(pa.binary()))
            middle = exact(found).slice(len(found) // 3, len(found) // 2)
            assert_same("encode", middle, message.cls, version, prefix=True)
    assert all(each is not None for each in native_results)


@pytest.mark.parametrize("name", NAMES)
def test_mixed_versions_with_defaults_and_unknown_fields_match_objects(name: str, native_results: list[object]) -> None:
    message = messages()[name]
    rows = list(message.rows)
    random.Random(name).shuffle(rows)
    array, versions = binary([data for _, data in rows], before=1), pa.array([version for version, _ in rows])
    prefixed = binary([version.to_bytes(2, "big") + data for version, data in rows])
    options: dict[str, Any]
    for options in (
        {},
        {"unknown_tagged_fields": True},
        {"emit_defaults": True},
        {"emit_defaults": True, "unknown_tagged_fields": True},
    ):
        assert_same("decode", array, message.cls, versions, **options)
        assert_same("decode", prefixed, message.cls, None, **options)
        for version in message.versions:
            assert_same("decode", binary(message.of(version)), message.cls, version, **options)
    assert all(each is not None for each in native_results)


@pytest.mark.parametrize("name", NAMES)
def test_columns_encoded_at_other_versions_match_objects(name: str) -> None:
    message = messages()[name]
    for version in message.versions:
        choices: tuple[dict[str, Any], ...] = ({}, {"emit_defaults": True})
        for options in choices:
            found = decode(binary([*message.of(version), None]), message.cls, version, **options)
            for other in {message.versions[0], message.versions[-1], version}:
                assert_same("encode", found, message.cls, other)


def with_damage(message: Versioned, rnd: random.Random) -> Iterator[tuple[int, bytes | None]]:
    for version, data in message.rows:
        for _ in range(3):
            row = damaged(rnd, data) if rnd.random() < 0.6 else data
            yield version, None if rnd.random() < 0.05 else row


@pytest.mark.parametrize("name", NAMES)
def test_corrupt_rows_do_not_affect_other_rows(name: str, native_results: list[object]) -> None:
    message, rnd = messages()[name], random.Random(name)
    rows = list(with_damage(message, rnd))
    array, versions = binary([row for _, row in rows]), pa.array([version for version, _ in rows])
    for options in (
        {},
        {"corrupt_column": "bad"},
        {"trailing": "ignore", "trailing_column": "rest", "corrupt_column": "bad"},
        {"unknown_tagged_fields": True, "validate_utf8": False, "emit_defaults": True},
    ):
        assert_same("decode", array, message.cls, versions, mode="PERMISSIVE", **options)
        assert_same("decode", array, message.cls, versions, **options)
    assert all(each is not None for each in native_results)


def test_encode_of_structs_that_the_version_lacks_uses_objects(native_results: list[object]) -> None:
    found = decode(pa.array([FetchRequest().write(4)]), FetchRequest, 4, emit_defaults=True)
    native_results.clear()
    assert_same("encode", found, FetchRequest, 4)
    assert native_results[0] is None


def test_proposed_encodings_match_message_objects() -> None:
    package = random_messages.Package("kafka_messages_proposals")
    seen = 0
    for name in package.message_names:
        cls = package.message(name)
        for version in random_messages.versions_of(cls):
            rows = binary([each.write(version) for each in random_messages.messages(cls, version, mixed=3)])
            got, wanted = both("decode", rows, cls, version, package=kafka_messages_proposals)
            assert are_same(got, wanted), (name, version)
            assert are_same(*both("encode", wanted, cls, version, package=kafka_messages_proposals))
            seen += 1
    assert seen > 10


def tagged(*fields: tuple[int, bytes]) -> bytes:
    plain = OffsetCommitValue(offset=1).write(4)
    return plain[:-1] + bytes([len(fields)]) + b"".join(bytes([tag, len(data)]) + data for tag, data in fields)


@pytest.mark.parametrize(
    "fields",
    [
        [(9, b"x"), (3, b""), (5, b"yy")],
        [(9, b"x"), (3, b""), (9, b"yy")],
        [(tag, bytes([tag])) for tag in range(100, 10, -1)],
        [(tag, b"") for tag in (*range(100, 10, -1), 11)],
        [(0, bytes(16)), (0, bytes(16))],
        [(7, b"x"), (0, bytes(range(16))), (2, b"y")],
        [(0, bytes(15))],
        [(0, bytes(17))],
    ],
    ids=[
        "unordered",
        "duplicate",
        "many",
        "many, one duplicate",
        "known duplicate",
        "known between",
        "too short",
        "too long",
    ],
)
def test_tags_in_any_order_match_objects(fields: list[tuple[int, bytes]]) -> None:
    rows = binary([tagged(), tagged(*fields), None, tagged((8, b"z"))])
    for options in ({}, {"unknown_tagged_fields": True}):
        assert_same("decode", rows, OffsetCommitValue, 4, **options)
        found = assert_same("decode", rows, OffsetCommitValue, 4, mode="PERMISSIVE", **options)
        assert_same("encode", found, OffsetCommitValue, 4)


@pytest.mark.parametrize(
    "text",
    [
        b"\xc3\xa9",
        b"\xc3",
        b"\xa9",
        b"\xed\xa0\x80",
        b"\xed\x9f\xbf",
        b"\xf4\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xe0\x9f\x80",
        b"\xc0\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xf0\x90\x80\x80",
        b"\xff",
        b"12345678\xc3\xa9",
        b"1234567\xc3",
        b"\xe2\x82",
        b"\xf5\x80\x80\x80",
    ],
)
def test_texts_are_validated_as_utf8(text: bytes) -> None:
    row = bytes(8) + b"\xff\xff\xff\xff" + len(text).to_bytes(2, "big") + text + bytes(8)
    rows = binary([ROWS[0], row, ROWS[1], row[:12] + b"\0\2\xc3\xa9" + bytes(8)])
    found = assert_same("decode", rows, OffsetCommitValue, 3, mode="PERMISSIVE")
    assert found.null_count == 0 if is_text(text) else found.null_count == 1
    assert_same("decode", rows, OffsetCommitValue, 3)
    assert_same("decode", rows, OffsetCommitValue, 3, validate_utf8=False)
    halves = [row[:12] + b"\0\1" + half + bytes(8) for half in (b"\xc3", b"\xa9")]
    assert assert_same("decode", binary(halves), OffsetCommitValue, 3, mode="PERMISSIVE").null_count == 2


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_first_corrupt_row_is_reported_for_any_error() -> None:
    bad_text = bytes(12) + b"\0\1\xff" + bytes(8)
    rows = [ROWS[0], bad_text, ROWS[1][:-3]]
    with pytest.raises(
        RowError, match=r"^row 1: OffsetCommitValue v3: metadata: invalid UTF-8 at offset 14: invalid start byte$"
    ) as caught:
        decode(pa.array(rows), OffsetCommitValue, 3)
    assert caught.value.row == 1
    with pytest.raises(RowError) as caught:
        decode(pa.array([rows[0], rows[2], rows[1]]), OffsetCommitValue, 3)
    assert caught.value.row == 1


@pytest.mark.parametrize(("value", "wanted"), [("1", "native True\n"), ("0", "pure False\n")])
def test_environment_variable_selects_native_columns(value: str, wanted: str) -> None:
    text = """
import warnings
import kafka_messages
import pyarrow as pa
from kafka_messages._core.native import native_columns
from kafka_messages.arrow import decode
warnings.simplefilter("ignore")
decode(pa.array([kafka_messages.OffsetCommitValue().write(3)]), kafka_messages.OffsetCommitValue, 3)
print(kafka_messages.implementation(), native_columns() is not None)
"""
    assert script(text, KAFKA_MESSAGES_NATIVE=value) == wanted


def test_extension_decodes_and_encodes_plain_rows(native_results: list[object]) -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    assert isinstance(native_results[0], pa.StructArray)
    assert pc.sum(found.field("offset")).as_py() == sum(OFFSETS)
    encode(found, OffsetCommitValue, 3)
    assert isinstance(native_results[1], pa.Array)
    assert kafka_messages.implementation() == "native"
