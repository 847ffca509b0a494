"""The column encoder against the object codec: equal bytes and errors at every version."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
np = pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

import kafka_messages as km
from kafka_messages import EncodeError, Message, RawTaggedField, UnsupportedVersionError
from kafka_messages.arrow import EncodeRowError, decode, encode, schema
from kafka_messages.messages.fetch_request import FetchPartition, FetchTopic
from kafka_messages.schema.descriptors import FieldDescriptor, MessageDescriptor, descriptor_of

from tests.support.vectors import committed, message_class, versions_of

MESSAGES = committed()
Outcome = bytes | tuple[str, str]
Null = tuple[Any, FieldDescriptor, tuple[FieldDescriptor, ...]]
"""A struct, a null field of it, and the fields on the path to the struct."""


def structs(
    descriptor: MessageDescriptor, fields: Iterable[FieldDescriptor], obj: Any, version: int
) -> Iterator[tuple[Any, Any]]:
    """Yield the structs of an object that a version has, with their fields, outermost first."""
    yield obj, fields
    for field in fields:
        value = getattr(obj, field.name)
        if field.is_struct and value is not None and version in field.versions:
            for each in value if field.is_array else (value,):
                yield from structs(descriptor, descriptor.structs[field.type], each, version)


def with_unknown(message: Any, version: int, *, everywhere: bool) -> Any:
    """Return a copy with an unknown tagged field in the message or in each struct."""
    descriptor, twin = descriptor_of(type(message)), copy.deepcopy(message)
    for number, (struct, _) in enumerate(structs(descriptor, descriptor.fields, twin, version)):
        if everywhere or number == 0:
            struct.unknown_tagged_fields = (RawTaggedField(9000 + number, b"?"),)
    return twin


def nulls(message: Any) -> list[Null]:
    def inside(struct: Any, fields: Iterable[FieldDescriptor], path: tuple[FieldDescriptor, ...]) -> Iterator[Null]:
        for field in fields:
            value = getattr(struct, field.name)
            if value is None:
                yield struct, field, path
            elif field.is_struct:
                for each in value if field.is_array else (value,):
                    yield from inside(each, descriptor.structs[field.type], (*path, field))

    descriptor = descriptor_of(type(message))
    return list(inside(message, descriptor.fields, ()))


@contextmanager
def without_inexpressible_nulls(found: Iterable[Null], version: int) -> Iterator[None]:
    """Replace nulls in fields that the version lacks, which columns cannot express."""
    absent = [
        (struct, field.name)
        for struct, field, path in found
        if version not in field.versions and all(version in each.versions for each in path)
    ]
    for struct, name in absent:
        setattr(struct, name, getattr(type(struct)(), name))
    try:
        yield
    finally:
        for struct, name in absent:
            setattr(struct, name, None)


def outcome(message: Message, found: Iterable[Null], version: int) -> Outcome:
    """Return the bytes of the object codec, or the field and reason of its error."""
    with without_inexpressible_nulls(found, version):
        try:
            return message.write(version)
        except EncodeError as error:
            return error.path, error.reason


def assert_agree(cls: type[Message], columns: Any, wanted: list[Outcome], version: int) -> None:
    """Assert that encodable rows give equal bytes, and that the first other row fails for the same reason."""
    refused = [row for row, each in enumerate(wanted) if not isinstance(each, bytes)]
    good = [row for row, each in enumerate(wanted) if isinstance(each, bytes)]
    if good:
        assert encode(columns.take(pa.array(good)), cls, version).to_pylist() == [wanted[row] for row in good]
    if refused:
        with pytest.raises(EncodeRowError) as caught:
            encode(columns, cls, version)
        assert (caught.value.row, (caught.value.path, caught.value.reason)) == (refused[0], wanted[refused[0]])


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_decoded_columns_encode_like_objects_at_every_version(name: str) -> None:
    cls = message_class(name)
    versions = sorted({vector.version for vector in MESSAGES[name]})
    for version in versions:
        plain = [cls.read(vector.data, version) for vector in MESSAGES[name] if vector.version == version]
        kinds = [plain]
        if version >= cls.LOWEST_FLEXIBLE_VERSION and version == versions[-1]:
            shallow, deep = (
                [with_unknown(each, version, everywhere=inside) for each in plain] for inside in (False, True)
            )
            kinds += [shallow] if shallow == deep else [shallow, deep]
        for messages in kinds:
            data = pa.array([each.write(version) for each in messages], pa.binary())
            columns = decode(data, cls, version, emit_defaults=True, unknown_tagged_fields=True)
            assert encode(columns, cls, version).to_pylist() == data.to_pylist()
            with_nulls = [(each, nulls(each)) for each in messages]
            for other in versions_of(cls):
                wanted = [outcome(each, found, other) for each, found in with_nulls]
                assert_agree(cls, columns, wanted, other)


@pytest.mark.parametrize("version", [12, 13, 14])
def test_struct_with_a_field_missing_in_the_version_round_trips(version: int) -> None:
    tagged = (RawTaggedField(99, b"x"),)
    topic = FetchTopic(topic="t" if version == 12 else "", partitions=[FetchPartition(unknown_tagged_fields=tagged)])
    data = km.FetchRequest(topics=[topic]).write(version)
    columns = decode(pa.array([data]), km.FetchRequest, version, emit_defaults=True, unknown_tagged_fields=True)
    assert encode(columns, km.FetchRequest, version).to_pylist() == [data]


def test_error_contains_the_first_invalid_row() -> None:
    kind = pa.struct(list(schema(km.ListTransactionsRequest, unknown_tagged_fields=True)))
    row = {"state_filters": [], "producer_id_filters": [], "duration_filter": -1, "transactional_id_pattern": None}
    rows = [
        row | {"_unknown_tagged_fields": [(7, b"a"), (7, b"b")]},
        row | {"duration_filter": 5},
    ]
    with pytest.raises(EncodeRowError) as caught:
        encode(pa.array(rows, kind), km.ListTransactionsRequest, 0)
    assert str(caught.value) == ("row 0: ListTransactionsRequest v0: unknown_tagged_fields[1]: duplicate tag 7")
    with pytest.raises(EncodeRowError) as caught:
        encode(pa.array(rows[::-1], kind), km.ListTransactionsRequest, 0)
    assert str(caught.value) == (
        "row 0: ListTransactionsRequest v0: duration_filter: is set, but is not supported by version 0"
    )


def test_columns_of_fields_missing_in_the_version_are_optional() -> None:
    topics = pa.array([[{"name": "a"}], []], pa.list_(pa.struct([pa.field("name", pa.string())])))
    wanted = [
        km.MetadataRequest(topics=[km.MetadataRequest.MetadataRequestTopic(name="a")]).write(0),
        km.MetadataRequest().write(0),
    ]
    assert encode(pa.table({"topics": topics}), km.MetadataRequest, 0).to_pylist() == wanted
    nulls = pa.nulls(2, pa.bool_())
    assert (
        encode(pa.table({"topics": topics, "allow_auto_topic_creation": nulls}), km.MetadataRequest, 0).to_pylist()
        == wanted
    )
    with pytest.raises(KeyError, match=r"^'allow_auto_topic_creation'$"):
        encode(pa.table({"topics": topics}), km.MetadataRequest, 4)


@pytest.mark.parametrize(
    ("version", "given"),
    [
        (12.0, "12.0"),
        (True, "True"),
        ("12", "'12'"),
        ("1" * 99, f"'{'1' * 56}..."),
        (None, "None"),
        ([12], "a value of type list"),
        (np.array([12, 12]), "a value of type ndarray"),
        (pa.array([12]), "a value of type Int64Array"),
    ],
)
def test_non_integer_versions_raise_type_error(version: Any, given: str) -> None:
    with pytest.raises(TypeError) as caught:
        encode(pa.nulls(1), km.MetadataRequest, version)
    assert str(caught.value) == f"version must be an integer for all rows, not {given}"


def test_numpy_integer_versions_are_accepted() -> None:
    columns = decode(pa.array([km.MetadataRequest().write(9)]), km.MetadataRequest, np.int16(9))
    found = encode(columns, km.MetadataRequest, np.int16(9), prefix=True)
    assert found.to_pylist() == [b"\0\x09" + km.MetadataRequest().write(9)]
    for version in (-1, 14, 1 << 70):
        with pytest.raises(UnsupportedVersionError) as caught:
            encode(columns, km.MetadataRequest, version)
        assert str(caught.value) == f"MetadataRequest has no version {version}, only versions 0 to 13"
