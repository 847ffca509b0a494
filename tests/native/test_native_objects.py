"""Lifetime of native objects: subclasses, finalizers, cycles, deep chains, threads and garbage collection."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kafka_messages import MetadataResponse
from kafka_messages.messages.metadata_response import (
    MetadataResponsePartition,
    MetadataResponseTopic,
)

from tests.support.implementations import outcome, purely, script
from tests.support.topics import VERSION, read, response


@pytest.fixture
def data() -> bytes:
    written: bytes = response().write(VERSION)
    return written


@pytest.fixture
def no_finalizers() -> Iterator[None]:
    yield
    for cls in (MetadataResponsePartition, MetadataResponseTopic):
        if "__del__" in vars(cls):
            delattr(cls, "__del__")


# --- chains and cycles ------------------------------------------------------------------------------------------------


def nested_chain(link: Callable[[Any], Any], count: int) -> Any:
    """Return objects nested ``count`` deep, which requires field values of wrong types."""
    last = None
    for _ in range(count):
        last = link(last)
    return last


def in_a_slot(last: Any) -> Any:
    partition: Any = MetadataResponsePartition()
    partition.error_code = last
    return partition


def in_a_list(last: Any) -> Any:
    return MetadataResponseTopic(partitions=[last])


def in_a_collection(last: Any) -> Any:
    return MetadataResponse(topics=[last])


def in_an_index(last: Any) -> Any:
    message: Any = MetadataResponse()
    message.topics._index = {1: [last]}
    return message


class Kept(MetadataResponsePartition):
    pass


def in_a_subclass(last: Any) -> Any:
    kept: Any = Kept()
    kept.more = last
    return kept


def mixed(last: Any) -> Any:
    return in_a_subclass([in_a_list(in_a_collection(in_a_slot((last,))))])


@pytest.mark.parametrize("link", [in_a_slot, in_a_list, in_a_collection, in_an_index, in_a_subclass, mixed])
def test_long_chains_are_freed(data: bytes, link: Callable[[Any], Any]) -> None:
    chain = nested_chain(link, 300_000 if link is not mixed else 60_000)
    del chain


def test_long_chains_are_freed_in_threads(data: bytes) -> None:
    threads = [
        threading.Thread(target=nested_chain, args=(link, 100_000)) for link in (in_a_slot, in_a_collection, mixed)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_reference_cycles_are_collected(data: bytes) -> None:
    class Noted(MetadataResponse):
        __slots__ = ("__weakref__",)

    for _ in range(3):
        message = read(data)
        noted: Any = Noted()
        noted.topics = message.topics
        message.topics[0].name = noted
        message.topics[1].partitions = [message]
        note = weakref.ref(noted)
        del message, noted
        gc.collect()
        assert note() is None


def test_leaf_objects_are_not_tracked_by_gc(data: bytes) -> None:
    message = read(data)
    topic = message.topics[0]
    partition = topic.partitions[0]
    tracked = (message, message.topics, topic, message.brokers)
    assert all(map(gc.is_tracked, tracked))
    untracked = (topic.partitions, partition, partition.replica_nodes, message.brokers[0])
    assert not any(map(gc.is_tracked, untracked))
    assert any(each is topic for each in gc.get_referrers(topic.partitions))
    assert any(each is message.brokers for each in gc.get_referrers(message.brokers[0]))
    assert partition.replica_nodes in gc.get_referents(partition)
    assert all(each is not partition for each in gc.get_objects())
    gc.freeze()
    gc.unfreeze()
    assert gc.collect() >= 0
    assert message == response()


# --- subclasses and finalizers ----------------------------------------------------------------------------------------


def test_subclasses_with_slots_and_finalizers_are_freed(data: bytes) -> None:
    gone: list[str] = []

    class WithSlots(MetadataResponsePartition):
        __slots__ = ("__weakref__", "more")

    class WithAll(WithSlots, MetadataResponsePartition):
        def __del__(self) -> None:
            gone.append("all")

    class Token:
        def __del__(self) -> None:
            gone.append("token")

    for number in range(100):
        each: Any = WithAll()
        each.more, each.extra, each.error_code = Token(), Token(), Token()
        if number % 2:
            each.itself = each
        note = weakref.ref(each)
        del each
        if not number % 2:
            assert note() is None
    gc.collect()
    assert (gone.count("all"), gone.count("token")) == (100, 300)


def test_subclass_instances_are_written_and_read(data: bytes) -> None:
    class Mine(MetadataResponseTopic):
        def __init__(self, **values: Any) -> None:
            super().__init__(**values)
            self.note = "mine"

    class Response(MetadataResponse):
        pass

    message = response()
    topic = message.topics[0]
    message.topics[0] = Mine(**{name: getattr(topic, name) for name in topic._names})
    assert message.topics[0].note == "mine"
    assert message.write(VERSION) == data
    assert type(Response.read(data, VERSION)) is Response
    assert Response(topics=message.topics, brokers=message.brokers).write(VERSION) == data


def test_resurrecting_finalizer_keeps_objects_valid(data: bytes, no_finalizers: None) -> None:
    back: list[Any] = []
    partition = read(data).topics[0].partitions[0]
    MetadataResponsePartition.__del__ = lambda self: back.append(self)  # type: ignore[attr-defined]
    wanted = repr(partition)
    del partition
    assert wanted in map(repr, back)
    count = len(back)
    assert gc.collect() >= 0
    del back[:]  # finalizers run once, so this frees them
    assert back == []
    read(data)
    assert len(back) == 9 > count
    back.clear()


def test_finalizer_sees_complete_objects(data: bytes, no_finalizers: None) -> None:
    seen: list[str] = []
    MetadataResponseTopic.__del__ = lambda self: seen.append(self.name)  # type: ignore[attr-defined]
    MetadataResponseTopic(name="t", partitions=iter([MetadataResponsePartition()]))
    assert seen == ["t"]


def test_finalizer_of_a_collection_sees_its_elements(data: bytes) -> None:
    back: list[Any] = []
    cls = type(read(data).topics)
    cls.__del__ = lambda self: back.append(self)
    try:
        read(data)
        assert [len(each) for each in back] == [3]
        assert back[0].find("orders").name == "orders"
        back.clear()
    finally:
        del cls.__del__


def test_finalizer_changing_the_class_keeps_reference_counts(data: bytes) -> None:
    text = """
import sys
from kafka_messages.messages.metadata_response import MetadataResponse, MetadataResponsePartition
class Other(MetadataResponsePartition.__bases__[0]):
    __slots__ = MetadataResponsePartition.__slots__
class Topics(list):
    pass
def change(self):
    self.__class__ = Other
MetadataResponse().write(0)
MetadataResponsePartition.__del__ = change
before = sys.getrefcount(MetadataResponsePartition), sys.getrefcount(Other)
for _ in range(1000):
    MetadataResponsePartition()
assert (sys.getrefcount(MetadataResponsePartition), sys.getrefcount(Other)) == before
"""
    assert script(text) == ""


def test_class_assignment_matches_the_pure_code(data: bytes) -> None:
    class Sub(MetadataResponsePartition):
        __slots__ = ()

    message = read(data)
    for topic in message.topics:
        for partition in topic.partitions:
            partition.__class__ = Sub
    assert message.write(VERSION) == data
    message.topics[0].partitions[0].__class__ = MetadataResponsePartition
    assert message.write(VERSION) == data
    message.topics[0].partitions[0].__class__ = Sub
    assert outcome(message.write, VERSION) == purely(message.write, VERSION)
    with pytest.raises(TypeError):
        message.topics[0].partitions[1].__class__ = MetadataResponseTopic


def test_deleted_fields_raise_like_the_pure_code(data: bytes) -> None:
    for struct in (0, 1, 2):
        for name in ("name", "partition_index", "topics", "unknown_tagged_fields", "isr_nodes", "host"):
            message = read(data)
            places = (message, message.topics[1], message.topics[1].partitions[1])
            if name in places[struct]._names:
                delattr(places[struct], name)
                got = outcome(message.write, VERSION)
                assert got.is_error
                assert got == purely(message.write, VERSION)
                assert outcome(message.size, VERSION) == purely(message.size, VERSION)
