"""Arrays modified by another thread during native decoding: no out-of-bounds reads."""

from __future__ import annotations

import pytest

from tests.support.implementations import script

pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")

# The thread starts after argument checks, and runs once the decoder releases the GIL.
PROGRAM = """
import sys, threading
import numpy as np, pyarrow as pa
from kafka_messages import OffsetCommitValue
from kafka_messages.arrow import decode

COUNT = 1_000_000
row = b"\\0\\3" + OffsetCommitValue(offset=7, metadata="host").write(3)
data = np.frombuffer(row * COUNT, np.uint8).copy()
offsets = np.arange(COUNT + 1, dtype=np.int32) * len(row)
array = pa.Array.from_buffers(pa.binary(), COUNT, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
waiting = threading.Lock()
waiting.acquire()

def write():
    waiting.acquire()
    change()

def change():
    CHANGE

class LetGo:
    def __bool__(self):
        if waiting.locked():
            waiting.release()
        return False

thread = threading.Thread(target=write)
thread.start()
sys.setswitchinterval(100)
try:
    found = decode(array, OffsetCommitValue, mode="PERMISSIVE", emit_defaults=LetGo())
except TypeError as error:
    print(str(error).partition(":")[0])
else:
    print(len(found))
thread.join()
"""


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("offsets[COUNT // 2 :] = 2**30", "invalid Arrow array"),
        ("offsets[COUNT // 2 : -1] = -(2**31)", "invalid Arrow array"),
        ("data.reshape(COUNT, -1)[COUNT // 2 :, 1] = 1", ""),
    ],
    ids=["offsets beyond the data", "negative offsets", "row versions"],
)
def test_arrays_changed_during_decode_cause_no_invalid_reads(change: str, error: str) -> None:
    assert script(PROGRAM.replace("CHANGE", change)).strip() in {"1000000", error}


# Eight threads work on memory that a ninth one changes, mostly without the GIL, as numpy releases it for long copies.
CHANGED = """
import os, sys, threading, time
from collections import Counter
import numpy as np, pyarrow as pa
from kafka_messages import OffsetCommitValue
from kafka_messages.arrow import decode, encode

COUNT = 2000
values = [OffsetCommitValue(offset=at, metadata=f"host-{at} \\u00e9").write(3) for at in range(COUNT)]

def changed(array, *others):
    '''Return the same array in memory of its own, and a function that copies another content there and back.'''
    valid, *buffers = array.buffers()
    memory = [np.frombuffer(buffer, kind).copy() for buffer, kind in zip(buffers, (np.int32, np.uint8))]
    kept = [each.copy() for each in memory]
    again = pa.Array.from_buffers(array.type, len(array), [valid, *map(pa.py_buffer, memory)])
    def change():
        for number, other in others:
            np.copyto(memory[number], other(kept[number]))
            np.copyto(memory[number], kept[number])
    return again, change

def beyond(offsets):
    return offsets + np.int32(2**30)

def negative(offsets):
    return -offsets

def backwards(memory):
    return memory[::-1]

PREPARE

stop, found, lock = threading.Event(), Counter(), threading.Lock()

def keep_changing():
    while not stop.is_set():
        change()

def keep_working():
    while not stop.is_set():
        try:
            work()
            outcome = "good"
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        with lock:
            found[outcome] += 1

sys.setswitchinterval(1e-4)
threads = [threading.Thread(target=keep_changing), *(threading.Thread(target=keep_working) for _ in range(8))]
for thread in threads:
    thread.start()
time.sleep(1.5)
stop.set()
for thread in threads:
    thread.join()
allowed = ("good", *ALLOWED)
assert found, "no call ended"
assert not (wrong := [outcome for outcome in found if not outcome.startswith(allowed)]), wrong[:3]
"""

DECODED = """
array, change = changed(pa.array(values), (0, beyond), (0, negative), (1, backwards), (0, backwards))

def work():
    decode(array, OffsetCommitValue, 3, **OPTIONS).validate(full=True)
"""

ENCODED = """
columns = decode(pa.array(values), OffsetCommitValue, 3)
texts, change = changed(columns.field("metadata"), OTHERS)
fields = list(columns.type)
array = pa.StructArray.from_arrays(
    [texts if field.name == "metadata" else columns.field(field.name) for field in fields], fields=fields
)

def work():
    encode(array, OffsetCommitValue, 3).validate(full=True)
"""

# Batches of all codecs, read from a file object that keeps the reader's memory and lets the other thread change it.
SEGMENTS = """
import io
from kafka_records.segments import read_segments, write_batches
from kafka_records.segments.frames import padded

rows = [{"key": b"k", "value": bytes(50), "headers": [("h", b"v")]} for _ in range(100)]
data = b"".join(
    write_batches(rows, base_offset=100 * number, compression=(None, "gzip", "snappy", "lz4", "zstd")[number % 5])
    for number in range(50)
)
seen = {}

class File(io.BytesIO):
    def readinto(self, memory):
        seen[threading.get_ident()] = memory
        return super().readinto(memory)

def change():
    for memory in list(seen.values()):
        bytes_ = np.frombuffer(memory, np.uint8)[: len(data)]
        if len(bytes_) > 4096:
            begin = int(time.monotonic_ns() % (len(bytes_) - 2048))
            kept = bytes_[begin : begin + 2048].copy()
            np.copyto(bytes_[begin : begin + 2048], kept[::-1])
            np.copyto(bytes_[begin : begin + 2048], kept)

def work():
    with read_segments(File(data), mode="MODE", check_crcs=CHECK, batch_metadata=True) as reader:
        for batch in reader:
            batch.validate(full=True)
"""


def run(prepare: str, allowed: tuple[str, ...], **environment: str) -> None:
    script(CHANGED.replace("PREPARE", prepare).replace("ALLOWED", repr(allowed)), **environment)


@pytest.mark.parametrize("options", ['{"mode": "PERMISSIVE"}', '{"validate_utf8": False}', "{}"])
@pytest.mark.parametrize("native", ["1", "0"])
def test_arrays_changed_during_decode_give_an_error_or_valid_columns(options: str, native: str) -> None:
    errors = ("RowError: ", "TypeError: invalid Arrow array")
    run(DECODED.replace("**OPTIONS", f"**{options}"), errors, KAFKA_MESSAGES_NATIVE=native)


@pytest.mark.parametrize(
    "others", ["(1, backwards)", "(0, beyond), (0, negative), (0, backwards)"], ids=["texts", "offsets"]
)
@pytest.mark.parametrize("native", ["1", "0"])
def test_columns_changed_during_encode_give_an_error_or_valid_messages(others: str, native: str) -> None:
    errors = ("EncodeRowError: ", "TypeError: ")
    run(ENCODED.replace("OTHERS", others), errors, KAFKA_MESSAGES_NATIVE=native)


@pytest.mark.parametrize("mode", ["PERMISSIVE", "FAILFAST"])
@pytest.mark.parametrize("check", [True, False])
def test_memory_changed_during_read_segments_gives_an_error_or_valid_batches(mode: str, check: bool) -> None:
    run(SEGMENTS.replace("MODE", mode).replace("CHECK", repr(check)), ("CorruptSegmentError: ",))
