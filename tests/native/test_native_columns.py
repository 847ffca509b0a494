"""Native columns equal columns of message objects, for all vectors and damaged bytes."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import kafka_messages
import kafka_messages_proposals
import kafka_messages_proposals.arrow
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from kafka_messages import FetchRequest, MetadataResponse, OffsetCommitValue
from kafka_messages.arrow import EncodeRowError, RowError, columns, decode, encode

from tests.support import random_messages
from tests.support.both_columns import Versioned, are_same, assert_same, binary, both, damaged, exact, messages, result
from tests.support.renderings import script

extension: Any = pytest.importorskip("kafka_messages_native._columns")
NAMES = sorted(messages())
ROWS = [OffsetCommitValue(offset=number, metadata=f"host-{number}").write(3) for number in range(100)]
OFFSETS = [row["offset"] for row in decode(pa.array(ROWS), OffsetCommitValue, 3).to_pylist()]
DECLINE = {"FetchRequest"}
"""Messages that native columns decline: the plan lacks defaults of a struct of other versions."""


@pytest.fixture
def native_results() -> Iterator[list[object]]:
    """Record the result of each native call: None where the extension declined."""
    given: list[object] = []

    def kept(function: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            given.append(function(*args, **named))
            return given[-1]

        return call

    def wanted() -> bool:
        return kafka_messages.arrow._native.native_columns() is not None

    def spied(function: Any) -> Any:
        spy = kept(function)
        return lambda *args, **named: spy(*args, **named) if wanted() else None

    with (
        mock.patch.object(columns, "decoded", spied(columns.decoded)),
        mock.patch.object(columns, "encoded", spied(columns.encoded)),
    ):
        yield given


def arrays(data: list[bytes]) -> Iterator[Any]:
    """Yield arrays of one row, repeated, with nulls, sliced, and with large offsets."""
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
def test_every_option_with_mixed_versions_matches_objects(name: str, native_results: list[object]) -> None:
    message = messages()[name]
    rows = list(message.rows)
    random.Random(name).shuffle(rows)
    array, versions = binary([data for _, data in rows], before=1), pa.array([version for version, _ in rows])
    prefixed = binary([version.to_bytes(2, "big") + data for version, data in rows])
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
def test_columns_are_encoded_at_other_versions_like_objects(name: str) -> None:
    message = messages()[name]
    for version in message.versions:
        for options in ({}, {"emit_defaults": True}):
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


def test_encode_beyond_the_plan_falls_back_to_objects(native_results: list[object]) -> None:
    found = decode(pa.array([FetchRequest().write(4)]), FetchRequest, 4, emit_defaults=True)
    native_results.clear()
    assert_same("encode", found, FetchRequest, 4)
    assert native_results[0] is None


def test_proposals_match_message_objects() -> None:
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


# ---- tags, texts, sizes


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


@pytest.mark.parametrize("order", ["small first", "large first", "mixed"])
def test_rows_of_very_different_sizes_round_trip(order: str) -> None:
    small, large = MetadataResponse().write(12), max(
        (data for v, data in messages()["MetadataResponse"].rows if v == 12), key=len
    )
    rows = [small] * 4000 + [large] * 300
    if order == "large first":
        rows.reverse()
    elif order == "mixed":
        random.Random(1).shuffle(rows)
    found = assert_same("decode", binary(rows), MetadataResponse, 12)
    assert assert_same("encode", exact(found), MetadataResponse, 12).to_pylist() == rows


def test_row_versions_with_nulls_match_objects() -> None:
    rows = binary([ROWS[0], ROWS[1], None, ROWS[2]])
    for versions in (pa.array([3, None, 3, 3]), pa.array([3, 99, None, -5]), pa.array([None] * 4), [3, 3, 3, 3]):
        assert_same("decode", rows, OffsetCommitValue, versions)
        assert_same("decode", rows, OffsetCommitValue, versions, mode="PERMISSIVE", corrupt_column="bad")
    assert_same("decode", rows, OffsetCommitValue, 99, mode="PERMISSIVE")
    assert_same("decode", rows, OffsetCommitValue, 99)
    assert_same("decode", binary([]), OffsetCommitValue, 3)
    assert_same("decode", binary([b"", b"\0", b"\0\3"]), OffsetCommitValue, None, mode="PERMISSIVE")
    assert_same("decode", binary([b"\0"]), OffsetCommitValue, None)


@pytest.mark.parametrize("kind", [pa.binary_view(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())], ids=str)
def test_other_binary_array_types_are_decoded(kind: Any) -> None:
    rows = pa.array(ROWS)
    rows = rows.dictionary_encode() if pa.types.is_dictionary(kind) else rows.cast(kind)
    assert assert_same("decode", rows, OffsetCommitValue, 3).field("offset").to_pylist() == OFFSETS
    chunked = pa.chunked_array([rows[:40], rows[40:]])
    assert assert_same("decode", chunked, OffsetCommitValue, 3).field("offset").to_pylist() == OFFSETS


@pytest.mark.parametrize(
    "change",
    [
        lambda child: child.cast(pa.large_string()) if pa.types.is_string(child.type) else child,
        lambda child: child.cast(pa.int64()) if pa.types.is_integer(child.type) else child,
        lambda child: child.cast(pa.float64()) if child.type == pa.int32() else child,
        lambda child: child.dictionary_encode() if pa.types.is_string(child.type) else child,
        lambda child: pa.nulls(len(child)) if child.null_count == len(child) else child,
    ],
    ids=["large", "wide", "float", "dictionary", "null"],
)
def test_columns_of_other_types_are_encoded(change: Any) -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    children = [change(found.field(place)) for place in range(found.type.num_fields)]
    other = pa.StructArray.from_arrays(children, names=[field.name for field in found.type])
    assert assert_same("encode", other, OffsetCommitValue, 3).to_pylist() == ROWS
    shuffled = pa.StructArray.from_arrays(children[::-1], names=[field.name for field in found.type][::-1])
    assert assert_same("encode", shuffled, OffsetCommitValue, 3).to_pylist() == ROWS


def test_missing_and_duplicate_columns_match_objects() -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    children = {field.name: found.field(field.name) for field in found.type}
    less = {name: child for name, child in children.items() if name not in ("expire_timestamp", "topic_id")}
    assert (
        assert_same(
            "encode", pa.StructArray.from_arrays(list(less.values()), names=list(less)), OffsetCommitValue, 3
        ).to_pylist()
        == ROWS
    )
    less.pop("metadata")
    missing = pa.StructArray.from_arrays(list(less.values()), names=list(less))
    assert assert_same("encode", missing, OffsetCommitValue, 3) == (KeyError, "'metadata'")
    twice = pa.StructArray.from_arrays([*children.values(), children["offset"]], names=[*children, "offset"])
    assert assert_same("encode", twice, OffsetCommitValue, 3)[0] is TypeError


def test_null_elements_raise_encode_row_error() -> None:
    rows = [data for version, data in messages()["MetadataResponse"].rows if version == 12]
    row = max(rows, key=len)
    found = decode(pa.array([row]), MetadataResponse, 12)
    brokers = found.field("brokers")
    structs = brokers.values
    assert len(structs)
    children = [structs.field(place) for place in range(structs.type.num_fields)]
    holes = pa.array([False] * len(structs)).buffers()[1]
    values = pa.Array.from_buffers(structs.type, len(structs), [holes], children=children)
    lists = pa.Array.from_buffers(brokers.type, 1, brokers.buffers()[:2], children=[values])
    fields = [lists if field.name == "brokers" else found.field(field.name) for field in found.type]
    spoiled = pa.StructArray.from_arrays(fields, fields=list(found.type))
    assert assert_same("encode", spoiled, MetadataResponse, 12)[0] is EncodeRowError
    untyped = pa.Array.from_buffers(pa.list_(pa.null()), 1, brokers.buffers()[:2], children=[pa.nulls(len(structs))])
    fields = [untyped if field.name == "brokers" else found.field(field.name) for field in found.type]
    nameless = pa.StructArray.from_arrays(fields, names=[field.name for field in found.type])
    assert assert_same("encode", nameless, MetadataResponse, 12)[0] is EncodeRowError


# ---- memory


def test_failing_allocations_raise_memory_error() -> None:
    large = [data for version, data in messages()["MetadataResponse"].rows if version == 12]
    rows = binary([*(large * (600_000 // sum(map(len, large)) + 1))[:2000], None])
    good = decode(rows, MetadataResponse, 12)
    failures = 0
    for call, argument in ((decode, rows), (encode, good)):
        wanted = call(argument, MetadataResponse, 12)
        for number in range(400):
            extension.fail_allocation(number)
            found = result(call, argument, MetadataResponse, 12)
            extension.fail_allocation(-1)
            if isinstance(found, tuple):
                assert found[0] is MemoryError
                failures += 1
            else:
                assert found.equals(wanted)
    assert failures > 50


def test_failing_allocations_in_plans_raise_memory_error() -> None:
    text = MetadataResponse._plan
    for number in range(100):
        extension.fail_allocation(number)
        found = result(extension.plan, text, True)
        extension.fail_allocation(-1)
        assert type(found) is not tuple or found[0] is MemoryError
        if type(found) is not tuple:
            break
    else:
        pytest.fail("a plan needs so many allocations")


def test_repeated_calls_do_not_grow_memory() -> None:
    rows = binary([data for version, data in messages()["MetadataResponse"].rows if version == 12] * 200)
    bad = binary([rows[0].as_py()[:-1]] * 500)

    def once() -> None:
        found = decode(rows, MetadataResponse, 12)
        encode(found, MetadataResponse, 12)
        decode(bad, MetadataResponse, 12, mode="PERMISSIVE")
        result(decode, bad, MetadataResponse, 12)
        extension.plan(MetadataResponse._plan, True)

    for _ in range(5):
        once()
    gc.collect()
    before = resident()
    size = decode(rows, MetadataResponse, 12).nbytes
    for _ in range(100):
        once()
    assert resident() - before < 20 * size + (8 << 20)


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_one_column_stays_valid_after_the_others_are_freed() -> None:
    rows = binary(ROWS * 300)
    column = decode(rows, OffsetCommitValue, 3).field("metadata")
    wanted = [f"host-{number}" for number in range(100)] * 300
    for _ in range(20):
        decode(rows, OffsetCommitValue, 3)
    gc.collect()
    assert column.to_pylist() == wanted
    assert pa.concat_arrays([column, column[:1]]).to_pylist() == [*wanted, "host-0"]


def test_concurrent_threads_get_equal_columns() -> None:
    rows = binary([data for version, data in messages()["MetadataResponse"].rows if version == 12] * 50)
    wanted = decode(rows, MetadataResponse, 12)
    from kafka_messages.arrow import _native

    _native._plans.clear()
    gate = threading.Barrier(4)

    def work(_: int) -> bool:
        gate.wait()
        same = True
        for _ in range(20):
            found = decode(rows, MetadataResponse, 12)
            same = same and found.equals(wanted) and encode(found, MetadataResponse, 12).equals(rows)
        return same

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


# ---- choice of implementation


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


def test_fast_path_is_used(native_results: list[object]) -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    assert isinstance(native_results[0], pa.StructArray)
    assert pc.sum(found.field("offset")).as_py() == sum(OFFSETS)
    encode(found, OffsetCommitValue, 3)
    assert isinstance(native_results[1], pa.Array)
    assert kafka_messages.implementation() == "native"
