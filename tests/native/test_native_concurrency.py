"""Native calls with threads, garbage collection and interpreter shutdown."""

from __future__ import annotations

import gc
import operator
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Thread
from typing import Any

import pytest
from kafka_messages import MetadataResponse, ProduceRequest

from tests.support.implementations import script
from tests.support.topics import VERSION, read, response


@pytest.fixture
def data() -> bytes:
    written: bytes = response().write(VERSION)
    return written


def test_concurrent_reads_and_writes_are_correct(data: bytes) -> None:
    def work(number: int) -> None:
        message = read(data)
        for k in range(200):
            message.topics[0].name = f"topic-{number}-{k}" if k % 3 else "é" * k
            again = read(message.write(VERSION))
            assert again == message
            assert MetadataResponse(topics=message.topics, brokers=message.brokers) == message

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, number) for number in range(8)]:
            done.result()


def test_reading_in_gc_callbacks_is_correct() -> None:
    text = """
import gc
from contextlib import suppress
from tests.support.topics import MetadataResponse, MetadataResponseTopic, VERSION, response
data, wanted = response().write(VERSION), repr(response())
calls = [0]

def collected(phase, info):
    calls[0] += 1
    if calls[0] % 7 == 0:
        assert repr(MetadataResponse.read(data, VERSION)) == wanted
    if calls[0] % 50 == 0:
        for each in [each for each in gc.get_objects() if isinstance(each, MetadataResponseTopic)]:
            with suppress(AttributeError):  # not yet complete in the pure code
                repr(each)

gc.callbacks.append(collected)
for threshold in (1, 2, 3, 5, 7, 20):
    gc.set_threshold(threshold)
    for _ in range(60):
        message = MetadataResponse.read(data, VERSION)
        assert repr(message) == wanted
        assert message.write(VERSION) == data
gc.callbacks.clear()
print(calls[0] > 100)
"""
    assert script(text) == "True\n"


def test_gc_callback_deleting_the_plan_in_use_is_safe() -> None:
    text = """
import gc
from kafka_messages.messages import metadata_response as module
from kafka_messages.messages.metadata_response import MetadataResponse, MetadataResponseTopic, MetadataResponsePartition
topics = [MetadataResponseTopic(name=str(n), partitions=[MetadataResponsePartition()] * 3) for n in range(50)]
wanted = MetadataResponse(topics=topics)
data = wanted.write(12)
text = repr(wanted)
owner = next(base for base in MetadataResponse.__mro__ if "_plan" in vars(base))
left = [5]
def gone(phase, info):
    left[0] -= 1
    if left[0] == 0:
        for name in ("_native", "_plan"):
            delattr(owner, name)
        for name in ("MetadataResponse", "MetadataResponseTopic", "MetadataResponsePartition"):
            cls = getattr(module, name)
            if "_maker" in vars(cls):
                del cls._maker
gc.collect()
gc.callbacks.append(gone)
gc.set_threshold(3)
assert repr(MetadataResponse.read(data, 12)) == text
gc.collect()
assert left[0] < 0
gc.callbacks.clear()
assert repr(MetadataResponse.read(data, 12)) == text
assert MetadataResponse(topics=topics).write(12) == data
print("done")
"""
    assert script(text) == "done\n"


def test_gc_callback_emptying_a_copied_list_is_safe() -> None:
    text = """
import gc
from kafka_messages.messages.metadata_response import MetadataResponse, MetadataResponseTopic
MetadataResponse().write(0)
for threshold in range(1, 8):
    for skipped in range(3):
        for extra in range(8):
            topics = [MetadataResponseTopic() for _ in range(300)]
            left = [skipped]
            def emptied(phase, info):
                if phase == "start":
                    if left[0] == 0:
                        topics.clear()
                    left[0] -= 1
            gc.collect()
            gc.callbacks.append(emptied)
            gc.set_threshold(threshold)
            kept = [object.__new__(MetadataResponseTopic) for _ in range(extra)]
            message = MetadataResponse(topics=topics)
            gc.set_threshold(700)
            gc.callbacks.clear()
            assert len(message.topics) in (0, 300)
            repr(message)
print("done")
"""
    assert script(text) == "done\n"


# --- interpreters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", ["module", "class", "circle", "atexit", "finalizer", "thread"])
def test_interpreter_shutdown_with_live_messages_is_clean(kept: str) -> None:
    text = f"""
import atexit, sys, threading, time
from kafka_messages.messages.metadata_response import MetadataResponse, MetadataResponseTopic, MetadataResponsePartition
partition = MetadataResponsePartition(replica_nodes=[1, 2])
data = MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=[partition])]).write(12)
message = MetadataResponse.read(data, 12)
kept = {kept!r}
class Last:
    def __del__(self):
        MetadataResponse.read(data, 12).write(12)
if kept == "class":
    MetadataResponse.last = message
elif kept == "circle":
    message.topics[0].name = message
    message.topics[0].partitions[0].error_code = message
    sys.message = message
elif kept == "atexit":
    atexit.register(lambda: print(len(MetadataResponse.read(data, 12).write(12)) > 0))
elif kept == "finalizer":
    sys.last = Last()
    sys.more = message
elif kept == "thread":
    def work():
        while True:
            MetadataResponse.read(data, 12).write(12)
    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.1)
if kept != "atexit":
    print(True)
"""
    assert script(text) == "True\n"


TOPICS = [ProduceRequest.TopicProduceData(name="", partition_data=[])] * 50_000
MANY = ProduceRequest(topic_data=TOPICS).write(12)


def test_reading_lets_other_threads_run() -> None:
    progress: list[None] = []
    done = Event()

    def work() -> None:
        while not done.is_set():
            progress.append(None)

    interval, thread = sys.getswitchinterval(), Thread(target=work)
    before, message, after = 0, None, 0
    calls: list[Any] = [progress.__len__, partial(ProduceRequest.read, MANY, 12), progress.__len__]
    try:
        sys.setswitchinterval(1e-6)
        thread.start()
        for _ in range(100):  # on a busy machine, the thread may not wake up during one call
            # without Python code between: only the core lets threads run
            before, message, after = map(operator.call, calls)
            if after > before:
                break
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert after > before
    assert isinstance(message, ProduceRequest)
    assert message.topic_data == TOPICS


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="since Python 3.12, the collector runs only between calls")
def test_collector_sees_no_object_of_an_unfinished_message() -> None:
    """So that a large message does not make it slow."""
    seen: list[int] = []

    def collected(phase: str, info: object) -> None:
        if len(seen) < 50:  # a collection follows each 700 objects that it sees
            seen.append(len(gc.get_objects()))

    gc.collect()
    before = len(gc.get_objects())
    gc.callbacks.append(collected)
    try:
        message = ProduceRequest.read(MANY, 12)
    finally:
        gc.callbacks.remove(collected)
    assert max(seen, default=before) - before < len(TOPICS) / 10
    assert all(map(gc.is_tracked, [message, message.topic_data, *message.topic_data]))
