"""zstd by ``zstandard`` and, since Python 3.14, by the standard library: equal results and errors."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
from kafka_records.engines import Installed
from kafka_records.errors import CompressionError, MissingCodecError

HAS_STANDARD = sys.version_info >= (3, 14)
MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x5a\x2a\x4d\x18\x05\0\0\0hello"
SUM_OF_TEXT = bytes.fromhex("52afcc88")
"""Last 4 bytes of a frame of ``text`` with a checksum."""


def frame(text: bytes, flags: int = 0, window: int = 17, checksum: bytes = b"") -> bytes:
    """Return a frame of one uncompressed block, without the size of its content (RFC 8878, 3.1.1)."""
    return MAGIC + bytes([flags, window - 10 << 3]) + (len(text) << 3 | 1).to_bytes(3, "little") + text + checksum


class _Decompressor:
    """The class of ``compression.zstd``, on top of zstandard; keeps the sizes of its inputs."""

    given: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self._inner = import_module("zstandard").ZstdDecompressor().decompressobj()
        self._output = b""

    def decompress(self, data: bytes | memoryview, max_length: int) -> bytes:
        self.given.append(len(data))
        self._output += self._inner.decompress(bytes(data)) if len(data) else b""
        part, self._output = self._output[:max_length], self._output[max_length:]
        return part

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof) and not self._output

    @property
    def needs_input(self) -> bool:
        return not self._output and not self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) if self.eof else b""


def _stand_in() -> Any:
    zstandard = pytest.importorskip("zstandard", reason="the extra `compression` is not installed")
    make = zstandard.ZstdCompressor
    return SimpleNamespace(
        __name__="compression.zstd",
        ZstdError=zstandard.ZstdError,
        ZstdDecompressor=_Decompressor,
        compress=lambda data: make().compress(data),
    )


def _find(name: str) -> ModuleType:
    if name == "compression.zstd" and not HAS_STANDARD:
        found: ModuleType = _stand_in()
        return found
    return import_module(name)


@pytest.fixture(params=["compression.zstd", "zstandard"])
def engine(request: pytest.FixtureRequest) -> Installed:
    if request.param == "zstandard":
        pytest.importorskip("zstandard", reason="the extra `compression` is not installed")
    return Installed(_find, request.param if request.param != "zstandard" else None)


PAYLOADS = {
    "no frame": (b"", b""),
    "unknown size": (frame(b"text"), b"text"),
    "two frames": (frame(b"one, ") + frame(b"two"), b"one, two"),
    "empty frame first": (frame(b"") + frame(b"text"), b"text"),
    "skippable frame first": (SKIPPABLE + frame(b"text"), b"text"),
    "skippable frame last": (frame(b"text") + SKIPPABLE, b"text"),
    "right checksum": (frame(b"text", 4, checksum=SUM_OF_TEXT), b"text"),
    "wrong checksum": (frame(b"text", 4, checksum=bytes(4)), "Restored data doesn't match checksum"),
    "bytes after the frame": (frame(b"text") + b"garbage!", "Unknown frame descriptor"),
    "zeros after the frame": (frame(b"text") + bytes(5), "Unknown frame descriptor"),
    "window of 128 MiB": (frame(b"text", window=27), b"text"),
    "window of 1 GiB": (frame(b"text", window=30), "Frame requires too much memory for decoding"),
    "no zstd": (b"no zstd data", "Unknown frame descriptor"),
    "dictionary": (MAGIC + b"\1\0\7\1\0\0", "Dictionary mismatch"),
    "reserved bit": (MAGIC + b"\x08\0\1\0\0", "Unsupported frame parameter"),
    "reserved block": (frame(b"")[:6] + b"\7\0\0", "Data corruption detected"),
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_both_libraries_give_the_same_result(engine: Installed, name: str) -> None:
    data, wanted = PAYLOADS[name]
    if isinstance(wanted, bytes):
        assert engine.zstd_decompress(memoryview(data), len(wanted)) == wanted
        return
    with pytest.raises(CompressionError) as caught:
        engine.zstd_decompress(memoryview(data), 100)
    assert str(caught.value) == f"the zstd data is damaged: {wanted}"


def test_truncated_data_is_refused_in_its_first_frame(engine: Installed) -> None:
    """As in Kafka, which reads a complete frame before a truncated one."""
    one, two = frame(b"one"), frame(b"two")
    for end in range(1, len(one)):
        with pytest.raises(CompressionError, match=r"^the zstd data is truncated$"):
            engine.zstd_decompress(memoryview(one[:end]), 100)
    assert engine.zstd_decompress(memoryview(one), 100) == b"one"
    found = [
        bytes(engine.zstd_decompress(memoryview((one + two)[:end]), 100)) for end in range(len(one), len(one + two))
    ]
    assert all(each.startswith(b"one") for each in found)


@pytest.mark.parametrize("size", [0, 1, 256 * 1024, 1_000_001])
def test_compressed_data_is_read_up_to_the_limit(engine: Installed, size: int) -> None:
    plain = (b"what repeats can be packed " * (size // 27 + 1))[:size]
    packed = memoryview(engine.zstd_compress(plain))
    assert engine.zstd_decompress(packed, size) == plain
    assert len(packed) < 200
    if size:
        with pytest.raises(CompressionError) as caught:
            engine.zstd_decompress(packed, size - 1)
        assert str(caught.value) == f"the zstd data decompresses to more than {size - 1} bytes (max_batch_bytes)"


def test_input_of_many_frames_is_copied_a_few_times() -> None:
    texts = [b"", b"x", bytes(3000), b""] * 200
    data = b"".join(map(frame, texts))
    _Decompressor.given.clear()
    stand_in = _stand_in()
    assert Installed(lambda name: stand_in, "compression.zstd").zstd_decompress(memoryview(data), 1 << 20) == b"".join(
        texts
    )
    assert sum(_Decompressor.given) < 3 * len(data)


def test_python_built_without_zstd_uses_zstandard() -> None:
    asked = []

    def find(name: str) -> ModuleType:
        asked.append(name)
        raise ImportError(name)

    with pytest.raises(MissingCodecError, match=r"^zstd needs the package zstandard, which is not installed: "):
        Installed(find, "compression.zstd").zstd_compress(b"")
    assert asked == ["compression.zstd", "zstandard"]


@pytest.mark.skipif(not HAS_STANDARD, reason="the standard library has zstd since Python 3.14")
def test_standard_library_is_used_since_python_3_14() -> None:
    asked: list[str] = []

    def load(name: str) -> Any:
        asked.append(name)
        return import_module(name)

    Installed(load).zstd_compress(b"")
    assert asked == ["compression.zstd"]
