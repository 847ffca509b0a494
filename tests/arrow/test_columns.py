"""The column codec against the object codec: every message, every version, mixed in one array."""

from __future__ import annotations

import random
from collections.abc import Iterator
from unittest import mock

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

import kafka_messages as km
from kafka_messages import (
    ListTransactionsRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitValue,
    UnsupportedVersionError,
)
from kafka_messages._facts import facts_of
from kafka_messages.arrow import EncodeRowError, RowError, _skip, decode, encode, schema

from tests.support.columns import expected
from tests.support.vectors import committed

MESSAGES = committed()


def repeats() -> Iterator[int]:
    """Few rows take the plain loop, many the lanes; both must give the same."""
    yield from (1, 30)


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_columns_are_what_the_objects_are(name: str) -> None:
    """The proof of the decoder: all vectors of a message, of all versions, in one array in random order."""
    cls, facts = getattr(km, name), facts_of(getattr(km, name))
    for times in repeats():
        vectors = [*MESSAGES[name]] * times
        random.Random(name).shuffle(vectors)
        array = pa.array([vector.data for vector in vectors], pa.binary())

        columns = decode(array, cls, pa.array([vector.version for vector in vectors]))

        columns.validate(full=True)
        assert columns.type == pa.struct(list(schema(cls)))
        wanted = [expected(facts, facts.fields, cls.read(v.data, v.version), v.version) for v in vectors]
        assert repr(columns.to_pylist()) == repr(wanted)  # repr, for the sake of NaN


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_columns_encode_to_the_same_bytes(name: str) -> None:
    """The proof of the encoder: what was decoded gives Kafka's bytes again."""
    cls = getattr(km, name)
    for version in sorted({vector.version for vector in MESSAGES[name]}):
        data = [vector.data for vector in MESSAGES[name] if vector.version == version] * 3
        columns = decode(pa.array(data, pa.binary()), cls, version)

        assert encode(columns, cls, version).to_pylist() == data


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_damaged_rows_do_not_touch_the_others(name: str) -> None:
    """In PERMISSIVE mode exactly the rows that the object codec refuses are null, and the rest is as without them."""
    cls, facts = getattr(km, name), facts_of(getattr(km, name))
    draw = random.Random(name)
    rows, versions = [], []
    for vector in MESSAGES[name]:
        for _ in range(3):
            at = draw.randrange(len(vector.data) + 1)
            rows.append(
                vector.data[:at] + draw.choice((b"", b"\xff", b"\x80\x00", b"\x7f\xff")) + vector.data[at + 1 :]
            )
            versions.append(vector.version)
    columns = decode(pa.array(rows, pa.binary()), cls, pa.array(versions), mode="PERMISSIVE")

    wanted: list[object] = []
    for data, version in zip(rows, versions, strict=True):
        try:
            wanted.append(expected(facts, facts.fields, cls.read(data, version), version))
        except km.DecodeError:
            wanted.append(None)
    assert repr(columns.to_pylist()) == repr(wanted)


ROWS = [MetadataResponse().write(12), None, b"\0\0"]


def test_failfast_names_row_and_place() -> None:
    """The default mode stops at the first bad row and says where in it."""
    with pytest.raises(RowError) as caught:
        decode(pa.array(ROWS, pa.binary()), MetadataResponse, 12)

    assert (
        str(caught.value) == "row 2: MetadataResponse v12: throttle_time_ms: INT32: 4 bytes needed at offset 0, 2 left"
    )
    assert (caught.value.row, caught.value.offset, caught.value.path) == (2, 0, "throttle_time_ms")


def test_permissive_hands_the_bytes_back() -> None:
    """Nothing is lost: the bytes of a bad row are in the column asked for, null rows stay null."""
    columns = decode(
        pa.array(ROWS, pa.binary()), MetadataResponse, 12, mode="PERMISSIVE", corrupt_column="_corrupt_record"
    ).to_pylist()

    assert columns[0]["_corrupt_record"] is None
    assert columns[0]["topics"] == []
    assert columns[1] is None
    assert columns[2] == dict.fromkeys(columns[2]) | {"_corrupt_record": b"\0\0"}


def test_the_version_in_front() -> None:
    """Coordinator values start with their version; each row is read by its own."""
    rows = [(v).to_bytes(2, "big") + OffsetCommitValue(offset=v, metadata="m").write(v) for v in (0, 3, 1)]

    columns = decode(pa.array(rows), OffsetCommitValue)

    assert columns.field("offset").to_pylist() == [0, 3, 1]
    assert columns.field("expire_timestamp").to_pylist() == [None, None, -1]
    assert encode(columns.slice(1, 1), OffsetCommitValue, 3, prefix=True).to_pylist() == [rows[1]]


def test_defaults_instead_of_null() -> None:
    """With emit_defaults a field that the version has not is what a message object would have."""
    columns = decode(pa.array([MetadataResponse().write(0)]), MetadataResponse, 0, emit_defaults=True)

    assert columns.field("controller_id").to_pylist() == [-1]


def test_unknown_tagged_fields() -> None:
    """What the definition does not name is a map on request, and is written again, in the order of the tags."""
    data = b"\x01\x01\x02\x07\x01a\x87\x07\x01b"
    columns = decode(pa.array([data]), ListTransactionsRequest, 0, unknown_tagged_fields=True)

    assert columns.field("_unknown_tagged_fields").to_pylist() == [[(7, b"a"), (903, b"b")]]
    assert encode(columns, ListTransactionsRequest, 0).to_pylist() == [data]


def test_unknown_tagged_fields_in_any_order() -> None:
    """Nothing says that tags ascend on the wire; the map has them by tag, as the object codec does."""
    data = b"\x01\x01\x02\x63\x02ab\x62\x01c"
    columns = decode(pa.array([data]), ListTransactionsRequest, 0, unknown_tagged_fields=True)

    assert columns.field("_unknown_tagged_fields").to_pylist() == [[(98, b"c"), (99, b"ab")]]


def test_trailing_bytes() -> None:
    """Bytes after a message are an error unless they are asked to be ignored."""
    rows = pa.array([MetadataResponse().write(12) + b"x"])

    with pytest.raises(RowError, match=r"^row 0: MetadataResponse v12: the message ends at offset 12, but 1 more byte"):
        decode(rows, MetadataResponse, 12)
    assert len(decode(rows, MetadataResponse, 12, trailing="ignore")) == 1


def test_strings_that_are_not_utf_8() -> None:
    """They make their row bad; unvalidated their bytes are in the column, for who knows another encoding."""
    rows = pa.array([OffsetCommitValue(metadata="ok").write(3).replace(b"ok", b"\xff!")])

    with pytest.raises(RowError, match=r"^row 0: OffsetCommitValue v3: metadata: .*UTF-8"):
        decode(rows, OffsetCommitValue, 3)
    column = decode(rows, OffsetCommitValue, 3, validate_utf8=False).field("metadata")
    assert column.type == pa.string()
    assert column.cast(pa.binary()).to_pylist() == [b"\xff!"]


def test_values_that_a_version_cannot_write() -> None:
    """An encoder says row, field and reason, in the words of the object codec."""
    columns = decode(pa.array([MetadataResponse(cluster_authorized_operations=1).write(8)]), MetadataResponse, 8)

    with pytest.raises(EncodeRowError) as caught:
        encode(columns, MetadataResponse, 11)
    assert str(caught.value) == (
        "row 0: MetadataResponse v11: cluster_authorized_operations: is set, but version 11 does not have this field"
    )
    with pytest.raises(UnsupportedVersionError):
        encode(columns, MetadataResponse, 99)


def test_columns_without_a_type() -> None:
    """Arrow infers the type null where it sees nulls alone: in a column, in a struct, in a list, and of whole rows."""
    request = {"topics": None, "allow_auto_topic_creation": True}
    request |= {f"include_{what}_authorized_operations": False for what in ("topic", "cluster")}
    rows = pa.array([request] * 2)
    assert rows.field("topics").type == pa.null()
    expected = MetadataRequest(topics=None).write(12)
    assert encode(rows, MetadataRequest, 12).to_pylist() == [expected] * 2

    topic = {"name": None, "topic_id": None}
    with pytest.raises(EncodeRowError) as caught:
        encode(pa.array([request | {"topics": [topic]}]), MetadataRequest, 9)
    assert str(caught.value) == "row 0: MetadataRequest v9: topics[0].name: is None, but this version has no null here"

    with pytest.raises(EncodeRowError) as caught:
        encode(pa.array([request | {"topics": [None]}]), MetadataRequest, 9)
    assert str(caught.value) == "row 0: MetadataRequest v9: topics[0]: is None, but this version has no null here"

    assert encode(pa.nulls(3), MetadataRequest, 12).to_pylist() == [None, None, None]
    assert encode(pa.nulls(3), MetadataRequest, 12).type == pa.binary()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"mode": "DROPMALFORMED"}, "mode is one of FAILFAST, PERMISSIVE, not 'DROPMALFORMED'"),
        ({"trailing": "keep"}, "trailing is one of error, ignore, not 'keep'"),
        (
            {"mode": "PERMISSIVE", "corrupt_column": "topics"},
            "the message has a field 'topics' already; choose another name for corrupt rows",
        ),
    ],
)
def test_wrong_arguments(arguments: dict[str, str], reason: str) -> None:
    """A wrong word is refused with the words there are."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        decode(pa.array([MetadataResponse().write(12)]), MetadataResponse, 12, **arguments)  # type: ignore[arg-type]
    assert str(caught.value) == reason


def test_a_huge_count_costs_nothing() -> None:
    """A count of two billion in a few bytes is one bad row, not an allocation."""
    rows = pa.array([b"\0\0\0\0\xff\xff\xff\xff\x07"] * 1000)

    assert decode(rows, MetadataResponse, 12, mode="PERMISSIVE").null_count == 1000


def test_a_forged_count_ends_where_its_row_is_bad() -> None:
    """A count that its row has the bytes for costs no more than the elements that are there: one that is none, here."""
    rows = [b"\0\0\0\0\xff\xff\x03" + b"\xff" * 70_000] * 30
    decode(pa.array(rows[:1]), MetadataResponse, 12, mode="PERMISSIVE")  # builds what is built once

    with mock.patch.object(_skip, "skip", wraps=_skip.skip) as skip:
        columns = decode(pa.array(rows), MetadataResponse, 12, mode="PERMISSIVE")

    assert columns.null_count == 30
    assert skip.call_count < 100


def test_what_few_rows_claim_stays_in_their_row() -> None:
    """An array whose elements are looked for one by one is not read on in the rows behind it."""
    topic = b"\0\0\0\0\0\0\0"  # no error, no name, not internal, no partitions
    forged = b"\0\0\0\1" + topic[:3] + b"\0\0\0\x10"
    seen = []
    step = _skip._stepper

    def stepper(kind: object) -> object:
        inner = step(kind)
        return lambda data, pos: seen.append(len(data)) or inner(data, pos)

    rows = pa.array([b"\0\0\0\0" + b"\0\0\0\2" + topic + forged, bytes(1000)])
    with mock.patch.object(_skip, "_stepper", stepper):
        assert decode(rows, MetadataResponse, 0, mode="PERMISSIVE").null_count == 2
    assert seen
    assert max(seen) <= len(rows[0].as_py())


def test_slices_and_chunks() -> None:
    """An array that is a window into another, or made of pieces, is read from where it starts."""
    rows = [OffsetCommitValue(offset=each).write(3) for each in range(10)]
    array = pa.array(rows).slice(4, 3)

    assert decode(array, OffsetCommitValue, 3).field("offset").to_pylist() == [4, 5, 6]
    chunked = pa.chunked_array([rows[:2], rows[8:]])
    assert decode(chunked, OffsetCommitValue, 3).field("offset").to_pylist() == [0, 1, 8, 9]
