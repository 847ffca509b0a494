"""Failing allocations: a call returns a result, or raises MemoryError or the error of the pure code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import kafka_messages
import pytest
from kafka_messages import FetchRequest, MetadataResponse, ProduceRequest, RawTaggedField
from kafka_messages._core import native

from tests.support import vectors
from tests.support.implementations import opened, pure, structs_in

testcapi: Any = pytest.importorskip("_testcapi")
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
in_python = pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="Python 3.12 and later crash, even without the core, if a generator's frame cannot be allocated",
)
"""Skip for tests that run generated code while allocations fail; Python 3.11 covers them."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Keep other threads from running: failing allocations affect the whole interpreter."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    yield
    sys.setswitchinterval(before)


def fail_each_allocation(call: Callable[[], Any]) -> list[tuple[Any, BaseException | None]]:
    """Return the outcomes of a call whose first allocation fails, then its second, until none fails."""
    results: list[tuple[Any, BaseException | None]] = []
    result: Any = None
    for number in range(20_000):
        caught: BaseException | None = None
        testcapi.set_nomemory(number, number + 1)
        try:
            result = call()
        except BaseException as error:
            caught = error
        finally:
            testcapi.remove_mem_hooks()
        results.append((result if caught is None else None, caught))
        # Many calls in a row succeeded, so the call has no further allocation.
        if number > 40 and all(each[1] is None for each in results[-40:]):
            break
    return results


def sample_vectors() -> list[Any]:
    """Return messages with every kind of field, with and without unknown tags."""
    names = [
        *(
            "MetadataResponse",
            "FetchRequest",
            "FetchResponse",
            "ProduceRequest",
            "JoinGroupResponse",
            "ApiVersionsResponse",
        ),
        *("AlterClientQuotasRequest", "BrokerHeartbeatRequest", "DescribeClusterResponse", "UpdateFeaturesRequest"),
    ]
    found = []
    for name in names:
        group = sorted(vectors.committed()[name], key=lambda vector: len(vector.data))
        found += [
            max((each for each in group if len(each.data) < 1500), key=lambda each: (each.version, len(each.data)))
        ]
    return found


@pytest.mark.parametrize("vector", sample_vectors(), ids=str)
def test_failing_allocations_in_read_and_write_raise_memory_error(vector: Any) -> None:
    message = vector.cls.read(vector.data, vector.version)
    for struct in structs_in(message):
        if "unknown_tagged_fields" in struct._names and vector.version >= vector.cls.LOWEST_FLEXIBLE_VERSION:
            struct.unknown_tagged_fields = (RawTaggedField(1000, b"abc"), RawTaggedField(100_000, b"d"))
    data = message.write(vector.version)
    buffer, framed = bytearray(data), b"x" + data
    values = {name: getattr(message, name) for name in message._names}
    values |= {name: tuple(value) for name, value in values.items() if type(value) is list}
    tries: list[tuple[Callable[[], Any], Any]] = [
        (lambda: vector.cls.read(data, vector.version), message),
        (lambda: vector.cls.read(buffer, vector.version), message),
        (lambda: vector.cls.read_from(framed, 1, vector.version), (message, len(framed))),
        (lambda: message.write(vector.version), data),
        (lambda: message.size(vector.version), len(data)),
        (lambda: vector.cls(**values), message),
        (lambda: vector.cls(), type.__call__(vector.cls)),
    ]
    for call, wanted in tries:
        results = fail_each_allocation(call)
        assert results[-1] == (wanted, None)
        for result, error in results:
            if error is None:
                assert result == wanted
            else:
                assert isinstance(error, MemoryError), error


@in_python
def test_failing_allocations_of_rejected_calls_match_the_pure_code() -> None:
    data = MetadataResponse(topics=[]).write(12)
    message: Any = MetadataResponse()
    message.topics = ["x", "é", "\ud800"]
    for call in (lambda: MetadataResponse.read(data[:-1], 12), lambda: message.write(12), lambda: message.size(99)):
        with pure():  # Python may raise SystemError if it cannot allocate a frame
            wanted = fail_each_allocation(call)
        results = fail_each_allocation(call)
        assert str(results[-1][1]) == str(wanted[-1][1])
        assert {type_and_text(error) for _, error in results} <= {type_and_text(error) for _, error in wanted} | {
            (MemoryError, "")
        }


def type_and_text(error: BaseException | None) -> tuple[type, str]:
    """Return type and text of an error; SystemError has no comparable text, because it names the function."""
    return type(error), "" if isinstance(error, SystemError) else str(error)


def test_failing_allocations_with_long_texts_raise_memory_error() -> None:
    message = ProduceRequest(transactional_id="é" * 400, unknown_tagged_fields=(RawTaggedField(9, bytes(4000)),))
    data = message.write(9)
    for call, wanted in ((lambda: message.write(9), data), (lambda: ProduceRequest.read(data, 9), message)):
        for result, error in fail_each_allocation(call):
            assert isinstance(error, MemoryError) or (result == wanted and error is None)


@in_python
def test_failing_allocations_on_first_use_raise_memory_error() -> None:
    owner: Any = next(base for base in FetchRequest.__mro__ if "_plan" in vars(base))
    message = FetchRequest(max_wait_ms=5)
    data = message.write(17)

    def opened() -> Any:
        if "_native" in vars(owner):
            del owner._native
        return FetchRequest.read(data, 17)

    results = fail_each_allocation(opened)
    assert results[-1] == (message, None)
    for result, error in results:
        if error is None:
            assert result == message
        else:
            assert isinstance(error, MemoryError), error
    assert opened() == message
    assert native.refused == {}
    assert type(kafka_messages.FetchRequest.read).__name__ == "Reader"


def test_failing_allocations_in_plans_raise_memory_error() -> None:
    core = pytest.importorskip("kafka_messages_native")
    opened(FetchRequest)
    owner: Any = next(base for base in FetchRequest.__mro__ if "_plan" in vars(base))
    namespace = vars(sys.modules[FetchRequest.__module__])
    package = native._package
    results = fail_each_allocation(lambda: type(core.Plan(package, owner._plan, namespace)))
    assert results[-1] == (core.Plan, None)
    for _, error in results:
        assert error is None or isinstance(error, MemoryError), error
