"""Memory and reference counts stay constant over many calls, including failing ones."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import MetadataResponse, RawTaggedField
from kafka_messages._core import native

from tests.support import vectors
from tests.support.implementations import LEFT, bare_calls, opened, structs_in
from tests.support.topics import VERSION, read, response

core: Any = pytest.importorskip("kafka_messages_native")


def growth(work: Callable[[], None], rounds: int = 4) -> int:
    """Return the growth in bytes between the first and the last round; the least of three measurements."""
    found = []
    for _ in range(3):
        work()
        gc.collect()
        tracemalloc.start()
        work()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(rounds):
            work()
        gc.collect()
        found.append(tracemalloc.get_traced_memory()[0] - before)
        tracemalloc.stop()
    return min(found)


def plan_arguments(cls: Any) -> tuple[Any, str, dict[str, Any]]:
    opened(cls)
    owner: Any = next(base for base in cls.__mro__ if "_plan" in vars(base))
    return native._package, owner._plan, vars(sys.modules[cls.__module__])


def damaged(rnd: random.Random, data: bytes) -> bytes:
    out = bytearray(data or b"\0")
    out[rnd.randrange(len(out))] ^= 1 << rnd.randrange(8)
    return bytes(out[: rnd.randrange(len(out) + 1)] if rnd.random() < 0.3 else out)


def test_reading_and_writing_every_message_does_not_leak() -> None:
    rnd = random.Random(3)
    work = []
    for name in vectors.message_names():
        cls = vectors.message_class(name)
        calls = bare_calls(cls, core.Plan(*plan_arguments(cls)), native._package)
        read, write = calls["read"], calls["write"]
        for vector in vectors.committed()[name]:
            if len(vector.data) < 1000:
                work.append((read, write, vector.version, vector.data, damaged(rnd, vector.data)))

    def once() -> None:
        for read, write, version, data, spoiled in work:
            for given in (data, spoiled):
                message = read(given, version)
                if message is not LEFT:
                    write(message, version)
                    struct = list(structs_in(message))[-1]
                    setattr(struct, struct._names[0], LEFT)
                    write(message, version)

    assert growth(once, 3) < 2000


@pytest.mark.nightly
def test_constructing_every_message_does_not_leak() -> None:
    built = []
    for name in vectors.message_names():
        cls = vectors.message_class(name)
        opened(cls)
        vector = max(vectors.committed()[name], key=lambda vector: len(vector.data) if len(vector.data) < 500 else 0)
        for struct in structs_in(cls.read(vector.data, vector.version)):
            values = {each: getattr(struct, each) for each in struct._names}
            tuples = {each: tuple(value) if isinstance(value, list) else value for each, value in values.items()}
            built.append((type(struct), values, tuples, dict(list(values.items())[:2]) | {"nothing": 1}))

    def once() -> None:
        for cls, *several in built:
            for values in several:
                with suppress(TypeError):
                    cls(**values)

    assert growth(once, 3) < 2000


def test_reference_counts_stay_constant() -> None:
    data = response().write(VERSION)
    message = read(data)
    wrong = read(data)
    wrong.topics[2].partitions[2].error_code = "x"
    partitions = [partition for topic in message.topics for partition in topic.partitions]
    watched = [
        type(message),
        type(message.topics),
        type(message.topics[0]),
        type(partitions[0]),
        None,
        True,
        (),
        5,
        data,
        "",
    ]
    watched += [message, message.topics, partitions[0], MetadataResponse.read, vectors, list]

    def once() -> None:
        for version in range(13):
            with suppress(Exception):
                message.write(version)
        for k in range(len(data)):
            with suppress(Exception):
                MetadataResponse.read(data[:k], VERSION)
            with suppress(Exception):
                MetadataResponse.read_from(bytearray(data[:k]), 0, VERSION)
        with suppress(Exception):
            wrong.write(VERSION)
        with suppress(Exception):
            wrong.size(VERSION)
        type(message)(topics=message.topics, brokers=tuple(message.brokers))
        type(message.topics[0])(partitions=partitions)
        with suppress(TypeError):
            type(message.topics[0])(partitions=partitions, name="x", nothing=None)

    def counts() -> list[int]:
        gc.collect()
        return [sys.getrefcount(each) for each in watched]

    for _ in range(3):
        once()
    before = counts()
    for _ in range(20):
        once()
    assert all(abs(after - count) < 20 for after, count in zip(counts(), before, strict=True)), (before, counts())


@pytest.mark.nightly
def test_reference_cycles_do_not_leak() -> None:
    data = response().write(VERSION)

    def once() -> None:
        for _ in range(50):
            message = read(data)
            message.topics[0].name = message
            message.topics[1].partitions = [*message.topics[1].partitions, message.topics[1]]

    assert growth(once) < 2000


@pytest.mark.nightly
def test_plans_and_readers_do_not_leak() -> None:
    package, text, namespace = plan_arguments(MetadataResponse)

    def once() -> None:
        for _ in range(20):
            plan = core.Plan(package, text, namespace)
            bare_calls(MetadataResponse, plan, package)
            core.Maker(plan, MetadataResponse)
            with suppress(ValueError):
                core.Plan(package, text.replace("0 1 2", "0 1 9"), namespace)
            with suppress(ValueError):
                core.Plan(package, text[:-30], namespace)
            core.Package(
                RawTaggedField, UUID(int=0), object(), object(), lambda cls, message: message, lambda cls: None
            )

    assert growth(once) < 2000
