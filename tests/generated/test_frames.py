"""Length-prefixed frames, received in arbitrary chunks."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages import DecodeError, EncodeError
from kafka_messages.protocol import FrameReader, FramingError, frame, split_frames


def split_into_chunks(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    yield data[at:]


def feed_single_bytes(reader: FrameReader, data: bytes, got: list[bytes]) -> None:
    for at in range(len(data)):
        reader.feed(data[at : at + 1])
        got += reader
    reader.close()


@given(st.lists(st.binary(max_size=40), max_size=12), st.lists(st.integers(0, 30), max_size=40))
def test_frames_survive_any_chunking(payloads: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(map(frame, payloads))
    reader, fed = FrameReader(), 0
    got: list[bytes] = []
    for piece in split_into_chunks(stream, sizes):
        reader.feed(piece)
        fed += len(piece)
        got += list(reader)
        taken = sum(4 + len(payload) for payload in got)
        assert (reader.offset, reader.pending) == (taken, fed - taken)
    assert got == payloads
    reader.close()
    assert split_frames(stream) == payloads


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=12), st.data())
def test_frames_can_be_taken_one_by_one_between_feeds(payloads: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(map(frame, payloads))
    reader, at = FrameReader(), 0
    got: list[bytes] = []
    while len(got) < len(payloads):
        size = data.draw(st.integers(1, 50))
        reader.feed(bytearray(stream[at : at + size]))
        at += size
        payload = reader.next_frame()
        if payload is not None:
            got.append(payload)
        assert reader.offset == sum(4 + len(each) for each in got)
    assert got == payloads


def test_a_large_frame_in_single_bytes_takes_linear_time() -> None:
    stream = frame(bytes(1 << 19))
    reader = FrameReader()
    got: list[bytes] = []
    started = time.process_time()
    for at in range(len(stream)):
        reader.feed(stream[at : at + 1])
        got += list(reader)
    assert time.process_time() - started < 10
    assert got == [bytes(1 << 19)]


def test_many_waiting_frames_take_linear_time() -> None:
    count = 100_000
    reader = FrameReader()
    reader.feed(frame(b"12345678") * count)
    started = time.process_time()
    for _ in range(count):
        reader.feed(b"\0")
        assert reader.next_frame() == b"12345678"
    assert time.process_time() - started < 10
    assert list(reader) == [b""] * (count // 4)
    reader.close()


def test_empty_frames_are_returned() -> None:
    assert split_frames(bytes(8)) == [b"", b""]
    assert frame(b"") == bytes(4)


@pytest.mark.parametrize(
    ("data", "text", "offset"),
    [
        ("00000001aa" + "ffffffff", "the length of the frame at offset 5 is negative: -1", 5),
        ("00000001aa" + "00000009", "the frame at offset 5 has 9 bytes, but at most 8 are allowed", 5),
        ("00000001aa" + "7fffffff", "the frame at offset 5 has 2147483647 bytes, but at most 8 are allowed", 5),
        ("00000001aa" + "000000", "truncated frame at offset 5: the data ends at offset 8", 5),
        ("00000001aa" + "00000002bb", "truncated frame at offset 5: the data ends at offset 10", 5),
    ],
)
def test_invalid_frames_raise_framing_error(data: str, text: str, offset: int) -> None:
    with pytest.raises(FramingError) as caught:
        split_frames(bytes.fromhex(data), max_size=8)
    assert (str(caught.value), caught.value.offset) == (text, offset)
    assert isinstance(caught.value, DecodeError)
    reader = FrameReader(max_size=8)
    got: list[bytes] = []
    with pytest.raises(FramingError):
        feed_single_bytes(reader, bytes.fromhex(data), got)
    assert got == [b"\xaa"]


def test_reader_fails_after_a_framing_error() -> None:
    reader = FrameReader()
    reader.feed(b"\xff\xff\xff\xfe")
    text = "the length of the frame at offset 0 is negative: -2"
    for use in (reader.next_frame, lambda: list(reader), lambda: reader.feed(b"1"), reader.close):
        with pytest.raises(FramingError) as caught:
            use()
        assert str(caught.value) == text


def test_claimed_frame_length_allocates_nothing() -> None:
    reader = FrameReader()
    reader.feed((100 * 1024 * 1024).to_bytes(4, "big") + bytes(4))
    assert reader.next_frame() is None
    assert sum(map(len, reader._pieces)) == 8
    reader = FrameReader()
    reader.feed((100 * 1024 * 1024 + 1).to_bytes(4, "big"))
    with pytest.raises(FramingError) as caught:
        reader.next_frame()
    assert str(caught.value) == "the frame at offset 0 has 104857601 bytes, but at most 104857600 are allowed"


@pytest.mark.parametrize("size", [-1, 2**31])
def test_max_size_outside_int32_is_rejected(size: int) -> None:
    with pytest.raises(ValueError, match=rf"^max_size {size} is outside 0 to 2147483647$"):
        FrameReader(size)


class Huge(bytes):
    def __len__(self) -> int:
        return 2**31


def test_payload_above_int32_raises_encode_error() -> None:
    with pytest.raises(EncodeError) as caught:
        frame(Huge())
    assert str(caught.value) == "a frame of 2147483648 bytes is too large; its length is an int32"
