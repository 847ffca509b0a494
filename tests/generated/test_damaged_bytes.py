"""Damaged bytes: reading raises DecodeError with an offset, or returns a valid message, within bounded memory."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import (
    ApiVersionsRequest,
    BrokerHeartbeatRequest,
    ConsumerGroupDescribeRequest,
    CreateTopicsRequest,
    DecodeError,
    DescribeTopicPartitionsRequest,
    FetchRequest,
    FetchResponse,
    JoinGroupRequest,
    ListTransactionsRequest,
    Message,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    RawTaggedField,
    SaslAuthenticateRequest,
    ShareAcknowledgeRequest,
)
from kafka_messages.messages.fetch_response import EpochEndOffset, FetchableTopicResponse, PartitionData
from kafka_messages.schema.arrays import ArrayOf
from kafka_messages.schema.types import Text

from kafka_protocol_upstream.vectors.sites import DamageSite, TagsSite, sites_of, uvarint
from tests.support import vectors
from tests.support.vectors import Vector

MESSAGES = vectors.message_names()
HUGE = 2**31 - 1


def read_or_error(cls: type[Message], data: bytes, version: int) -> Message | DecodeError:
    """Return the message, or a DecodeError with message name, version and offset."""
    try:
        return cls.read(data, version)
    except DecodeError as error:
        found = error
    assert found.message == cls.NAME
    assert found.version == version
    assert 0 <= found.offset <= len(data), str(found)
    assert "please report" not in str(found), f"the codecs disagree about {cls.NAME} v{version} {data.hex()}"
    return found


def assert_sound(message: Message, data: bytes, version: int) -> None:
    """Assert that a decoded message can be encoded and that both codecs agree on it."""
    cls = type(message)
    written = message.write(version)
    assert cls.read(written, version) == message
    assert message.size(version) == len(written)
    struct, end = cls.schemas()[version].read(data)
    assert end == len(data)
    out = bytearray()
    cls.schemas()[version].write(out, struct)
    assert out == written


# --- bytes: cut, added, changed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MESSAGES)
def test_truncated_message_raises_decode_error(name: str) -> None:
    for vector in vectors.samples(name, "full", "random1"):
        length = len(vector.data)
        cuts = range(length) if length <= 40 else sorted(random.Random(str(vector)).sample(range(length), 40))
        for cut in cuts:
            data = vector.data[:cut]
            result = read_or_error(vector.cls, data, vector.version)
            assert isinstance(result, DecodeError), f"{vector} cut to {cut} of {length} bytes"
            with pytest.raises(DecodeError) as caught:
                vector.cls.read_from(b"\0" + data, 1, vector.version)
            assert caught.value.offset >= 1


@pytest.mark.parametrize("name", MESSAGES)
def test_trailing_bytes_raise_decode_error(name: str) -> None:
    for vector in vectors.samples(name, "default", "full"):
        length, more = len(vector.data), vector.data + b"\0\0"
        with pytest.raises(DecodeError) as caught:
            vector.cls.read(more, vector.version)
        assert caught.value.offset == length
        reason = f"2 byte(s) left after the message, at offset {length}"
        assert str(caught.value) == f"{name} v{vector.version}: {reason}"
        _, end = vector.cls.read_from(more, 0, vector.version)
        assert end == length


CHANGES = [b"", b"\0", b"\x01", b"\x02", b"\x7f", b"\x80", b"\xff", b"\x80\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"]
CHANGES += [
    b"\xff" * 4 + b"\x0f",
    b"\xff" * 4 + b"\x7f",
    b"\xff" * 5 + b"\x01",
    b"\x80" * 4 + b"\x08",
    b"\xc3",
    b"\xfe",
]


@pytest.mark.parametrize("name", MESSAGES)
def test_mutated_bytes_are_rejected_or_valid(name: str) -> None:
    for vector in vectors.samples(name, "full", "nulls", "random1", "random3"):
        draw = random.Random(str(vector))
        for _ in range(16 if vector.data else 0):
            at = draw.randrange(len(vector.data))
            kept = at + draw.choice((0, 1, 1, 1, 2))
            data = vector.data[:at] + draw.choice(CHANGES) + vector.data[kept:]
            result = read_or_error(vector.cls, data, vector.version)
            if not isinstance(result, DecodeError):
                assert_sound(result, data, vector.version)


@settings(max_examples=600, derandomize=True, database=None, deadline=None)
@given(st.sampled_from(MESSAGES), st.integers(0, 20), st.binary(max_size=80))
def test_random_bytes_are_rejected_or_valid(name: str, number: int, data: bytes) -> None:
    cls = vectors.message_class(name)
    versions = vectors.versions_of(cls)
    version = versions[number % len(versions)]
    result = read_or_error(cls, data, version)
    if not isinstance(result, DecodeError):
        assert_sound(result, data, version)


# --- bytes: every length, text and tag of every layout ----------------------------------------------------------------


def assert_refused(vector: Vector, data: bytes, path: str, offset: int, reason: str) -> None:
    result = read_or_error(vector.cls, data, vector.version)
    assert isinstance(result, DecodeError), f"{vector}: {path}: {reason}: {data.hex()}"
    place = f"{path}: " if path else ""
    assert str(result) == f"{vector.message} v{vector.version}: {place}{reason}"
    assert result.path == path
    assert result.offset == offset


def assert_tolerated(vector: Vector, data: bytes) -> None:
    result = read_or_error(vector.cls, data, vector.version)
    if not isinstance(result, DecodeError):
        assert_sound(result, data, vector.version)


def length_sites(name: str, kind: str, *more: str) -> Iterator[tuple[Vector, DamageSite, Callable[[bytes], bytes]]]:
    """Yield the sites of a kind in layouts and ``more`` samples, each with a function that replaces its bytes."""
    for vector in [*vectors.layouts(name), *vectors.samples(name, *more)]:
        for site in sites_of(vector.data, vector.cls.schemas()[vector.version])[0]:
            if site.kind == kind:
                yield vector, site, _replacer(vector.data, site.start, site.end)


def tag_sections(name: str) -> Iterator[tuple[Vector, TagsSite, Callable[[bytes], bytes]]]:
    """Yield each tag section in a message's layouts, with a function that replaces it."""
    for vector in vectors.layouts(name):
        for site in sites_of(vector.data, vector.cls.schemas()[vector.version])[1]:
            yield vector, site, _replacer(vector.data, site.start, site.end)


def place_of(section: TagsSite) -> str:
    """Return the path in errors about the tag section itself."""
    return f"{section.path}._tagged_fields".removeprefix(".")


def _replacer(data: bytes, start: int, end: int) -> Callable[[bytes], bytes]:
    return lambda other: data[:start] + other + data[end:]


def is_compact(site: DamageSite) -> bool:
    return site.type.name.removeprefix("NULLABLE_").startswith("COMPACT_")


def width(site: DamageSite) -> int:
    return 2 if isinstance(site.type, Text) else 4


@pytest.mark.parametrize("name", MESSAGES)
def test_huge_lengths_raise_decode_error(name: str) -> None:
    for vector, site, replaced in length_sites(name, "length"):
        claim = 32767 if not is_compact(site) and width(site) == 2 else HUGE
        length = uvarint(claim + 1) if is_compact(site) else claim.to_bytes(width(site), "big")
        data, start, after = replaced(length), site.start, site.start + len(length)
        left = len(data) - after
        if claim <= left:
            continue  # a valid length, since enough bytes are left
        if isinstance(site.type, ArrayOf):
            reason = f"array of {claim} elements at offset {start}, but only {left} bytes left"
            assert_refused(vector, data, site.path, start, reason)
        elif isinstance(site.type, Text) and claim > 32767:
            reason = f"string length {claim} at offset {start} is above 32767"
            assert_refused(vector, data, site.path, start, reason)
        else:
            reason = f"{site.type.name}: {claim} bytes needed at offset {after}, {left} left"
            assert_refused(vector, data, site.path, after, reason)


@pytest.mark.parametrize("name", MESSAGES)
def test_length_one_beyond_the_end_raises_decode_error(name: str) -> None:
    for vector, site, replaced in length_sites(name, "length"):
        left = len(vector.data) - site.end
        if is_compact(site):
            data = replaced(uvarint(left + 2))
        elif width(site) == 2 and left >= 32767:
            continue
        else:
            data = replaced((left + 1).to_bytes(width(site), "big"))
        assert isinstance(read_or_error(vector.cls, data, vector.version), DecodeError), f"{vector}: {site.path}"


@pytest.mark.parametrize("name", MESSAGES)
def test_negative_lengths_are_null_or_raise_decode_error(name: str) -> None:
    """Any negative classic length is null, as in Kafka; null in a non-nullable field raises DecodeError."""
    for vector, site, replaced in length_sites(name, "length"):
        lengths = [b"\0", b"\x80\0"] if is_compact(site) else [b"\xff" * width(site), b"\x80" + bytes(width(site) - 1)]
        for length in lengths:
            if site.type.nullable:
                assert_tolerated(vector, replaced(length))
            else:
                reason = f"unexpected null at offset {site.start} in this version"
                assert_refused(vector, replaced(length), site.path, site.start, reason)


@pytest.mark.parametrize("name", MESSAGES)
def test_overlong_varints_raise_decode_error(name: str) -> None:
    for vector, site, replaced in length_sites(name, "length"):
        if is_compact(site):
            _assert_bad_varints(vector, replaced, site.path, site.start)
    for vector, section, replaced in tag_sections(name):
        _assert_bad_varints(vector, replaced, place_of(section), section.start)
        for before, after in ((b"\x01", b""), (b"\x01\x63", b"")):
            start = section.start + len(before)
            shifted = _replacer(replaced(before + b"\0" + after), start, start + 1)
            _assert_bad_varints(vector, shifted, place_of(section), start)


def _assert_bad_varints(vector: Vector, replaced: Callable[[bytes], bytes], path: str, start: int) -> None:
    data = replaced(b"\xff" * 5 + b"\x01")
    assert_refused(vector, data, path, start, f"UNSIGNED_VARINT at offset {start} has more than 5 bytes")
    data = replaced(b"\x80" * 4 + b"\x10")
    assert_refused(vector, data, path, start, f"UNSIGNED_VARINT at offset {start} has more than 32 bits")


@pytest.mark.parametrize("name", MESSAGES)
def test_padded_varints_are_accepted_outside_tagged_fields(name: str) -> None:
    """Kafka accepts varints with redundant bytes."""
    for vector, site, replaced in length_sites(name, "length", "nulls", "inner_nulls"):
        if not is_compact(site):
            continue
        first = vector.data[site.start : site.end]
        padded = replaced(first[:-1] + bytes([first[-1] | 128, 0]))
        if site.is_tagged:
            assert isinstance(
                read_or_error(vector.cls, padded, vector.version), DecodeError
            ), "the tag's size does not match"
        else:
            assert read_or_error(vector.cls, padded, vector.version) == vector.cls.read(vector.data, vector.version)


@pytest.mark.parametrize("name", MESSAGES)
def test_invalid_utf8_raises_decode_error(name: str) -> None:
    """Kafka replaces invalid UTF-8 silently; here it raises DecodeError."""
    for vector, site, replaced in length_sites(name, "text"):
        rest = vector.data[site.start + 1 : site.end]
        reason = f"invalid UTF-8 at offset {site.start}: invalid start byte"
        assert_refused(vector, replaced(b"\xff" + rest), site.path, site.start, reason)


@pytest.mark.parametrize("name", MESSAGES)
def test_any_presence_byte_is_tolerated(name: str) -> None:
    """As in Kafka, any negative presence byte is null, and any other one a struct."""
    for vector, _, replaced in length_sites(name, "presence"):
        for presence in (b"\xff", b"\x80", b"\0", b"\x01", b"\x02", b"\x7f", b"\x80\0"):
            assert_tolerated(vector, replaced(presence))


@pytest.mark.parametrize("name", MESSAGES)
def test_wrong_tag_sizes_raise_decode_error(name: str) -> None:
    for vector, section, replaced in tag_sections(name):
        for index, entry in enumerate(section.entries):
            size = len(entry.value)
            for wrong in {size - 1, size + 1, 2**32 - 1} - {-1}:
                parts = [each.data for each in section.entries]
                parts[index] = uvarint(entry.tag) + uvarint(wrong) + entry.value
                data = replaced(uvarint(len(parts)) + b"".join(parts))
                start = entry.start + len(uvarint(wrong)) - len(uvarint(size))
                left = len(data) - start
                if wrong > left:
                    reason = f"field with tag {entry.tag}: {wrong} bytes needed at offset {start}, {left} left"
                    assert_refused(vector, data, place_of(section), start, reason)
                else:
                    reason = f"tagged field {entry.tag} has size {wrong} at offset {start}, but its value takes {size}"
                    path = f"{section.path}.{entry.name}".removeprefix(".")
                    assert_refused(vector, data, path, start, reason)


@pytest.mark.parametrize("name", MESSAGES)
def test_duplicate_tags_raise_decode_error(name: str) -> None:
    for vector, section, replaced in tag_sections(name):
        entries = [entry.data for entry in section.entries]
        known = [(entry.tag, entry.data) for entry in section.entries[-1:]]
        for tag, entry in [*known, (900, uvarint(900) + b"\x01x")]:
            parts = [*entries, entry] if tag == 900 else entries
            start = section.start + 1 + sum(map(len, parts))
            data = replaced(uvarint(len(parts) + 1) + b"".join(parts) + entry)
            reason = f"duplicate tag {tag} at offset {start}"
            assert_refused(vector, data, place_of(section), start, reason)


@pytest.mark.parametrize("name", MESSAGES)
def test_tags_of_other_versions_raise_decode_error(name: str) -> None:
    for vector, section, replaced in tag_sections(name):
        for tag in section.absent:
            start = section.end
            data = replaced(section.extended(uvarint(tag) + b"\0"))
            reason = f"tag {tag} at offset {start} is not valid in this version"
            assert_refused(vector, data, place_of(section), start, reason)


@pytest.mark.parametrize("name", MESSAGES)
def test_huge_tag_count_raises_decode_error(name: str) -> None:
    for vector, section, replaced in tag_sections(name):
        entries = b"".join(entry.data for entry in section.entries)
        data = replaced(uvarint(2**32 - 1) + entries)
        assert isinstance(read_or_error(vector.cls, data, vector.version), DecodeError), f"{vector}: {section.path}"
        assert_tolerated(vector, replaced(uvarint(len(section.entries) + 1) + entries))


@pytest.mark.parametrize("name", MESSAGES)
def test_unknown_tags_are_kept(name: str) -> None:
    for vector, section, replaced in tag_sections(name):
        if section.is_tagged:
            continue  # the size of the enclosing tag would change
        data = replaced(section.extended(uvarint(900) + b"\x03abc"))
        result = read_or_error(vector.cls, data, vector.version)
        assert not isinstance(result, DecodeError), str(result)
        assert_sound(result, data, vector.version)
        assert result.write(vector.version) == data, f"{vector}: {section.path}"
        assert result != vector.cls.read(vector.data, vector.version), f"{vector}: {section.path}"


def test_unknown_tags_are_sorted() -> None:
    data = b"\x02" + b"\x87\x07\x01b" + b"\x07\x01a"
    message = ListTransactionsRequest.read(b"\x01\x01" + data, 0)

    assert message.unknown_tagged_fields == (RawTaggedField(7, b"a"), RawTaggedField(903, b"b"))
    assert message.write(0) == b"\x01\x01" + b"\x02" + b"\x07\x01a" + b"\x87\x07\x01b"
    assert ListTransactionsRequest.read(message.write(0), 0) == message


def test_unknown_tags_before_known_tags_are_accepted() -> None:
    message = FetchRequest(cluster_id="c", unknown_tagged_fields=(RawTaggedField(5, b"x"),))
    data = message.write(14)
    swapped = data.removesuffix(b"\x02\x00\x02\x02c\x05\x01x") + b"\x02\x05\x01x\x00\x02\x02c"

    assert FetchRequest.read(swapped, 14) == message


# --- time and memory --------------------------------------------------------------------------------------------------

CLAIMS: list[tuple[type[Message], int, bytes]] = [
    (JoinGroupRequest, 5, bytes(2 + 8 + 2) + b"\xff\xff" + bytes(2)),  # structs
    (FetchRequest, 4, bytes(17)),  # structs
    (MetadataRequest, 9, b""),  # structs, compact
    (MetadataResponse, 0, b""),  # a keyed collection
    (MetadataResponse, 9, bytes(4)),  # a keyed collection, compact
    (DescribeTopicPartitionsRequest, 0, b""),  # structs, compact
    (ConsumerGroupDescribeRequest, 0, b""),  # texts
    (ListTransactionsRequest, 0, b""),  # texts
    (ListTransactionsRequest, 0, b"\x01"),  # int64
    (ShareAcknowledgeRequest, 1, b"\0\0\0\0\0\0\x02" + bytes(16) + b"\x02" + bytes(4) + b"\x02" + bytes(16)),  # int8
    (CreateTopicsRequest, 2, b"\0\0\0\x01\0\0" + bytes(6) + b"\0\0\0\x01" + bytes(4)),  # int32
    (CreateTopicsRequest, 5, b"\x02\x01" + bytes(6) + b"\x02" + bytes(4)),  # int32, compact
    (BrokerHeartbeatRequest, 1, bytes(22) + b"\x01\0\x05"),  # UUIDs, tagged
    (SaslAuthenticateRequest, 1, b""),  # bytes
    (SaslAuthenticateRequest, 2, b""),  # bytes, compact
    (ProduceRequest, 9, bytes(7) + b"\x02\x01\x02" + bytes(4)),  # records, compact
    (ApiVersionsRequest, 3, b"\x01\x01\x01\x63"),  # an unknown tag's size
    (ApiVersionsRequest, 3, b"\x01\x01"),  # tags
]


@pytest.mark.parametrize(("cls", "version", "start"), CLAIMS, ids=lambda value: getattr(value, "NAME", None))
def test_claimed_lengths_allocate_no_memory(cls: type[Message], version: int, start: bytes) -> None:
    claims = [HUGE.to_bytes(4, "big"), uvarint(HUGE), uvarint(2**32 - 1)]
    for claim in claims:
        data = start + claim + bytes(6)
        result = read_or_error(cls, data, version)  # the first failure imports the error location code
        tracemalloc.start()
        read_or_error(cls, data, version)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 30_000, f"{peak} bytes for {len(data)}: {result}"


def partitions(count: int, size: int) -> bytes:
    diverging = EpochEndOffset(epoch=1)
    each = [PartitionData(partition_index=n, diverging_epoch=diverging, records=bytes(size)) for n in range(count)]
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=each)]).write(12)


def test_decode_error_memory_is_bounded() -> None:
    data = partitions(200, 10_000)[:-1]
    read_or_error(FetchResponse, data, 12)
    tracemalloc.start()
    result = read_or_error(FetchResponse, data, 12)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert isinstance(result, DecodeError)
    assert peak < 4 * len(data)


def test_decode_error_time_is_bounded() -> None:
    data = partitions(2000, 10_000)[:-1]
    start = time.process_time()
    result = read_or_error(FetchResponse, data, 12)

    assert isinstance(result, DecodeError)
    assert result.path == "_tagged_fields"
    assert time.process_time() - start < 1.5
