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
