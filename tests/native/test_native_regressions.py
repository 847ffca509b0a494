"""Regression tests for lifetimes, buffers and patching."""

from __future__ import annotations

import array
import gc
import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from kafka_messages import DecodeError, Message
from kafka_messages._core import native
from kafka_messages.messages.api_versions_request import ApiVersionsRequest
from kafka_messages.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState

from tests.support.implementations import declined, opened

core: Any = pytest.importorskip("kafka_messages_native")


needs_buffers = pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ needs Python 3.12")


def run_in_new_process(program: str) -> str:
    """Return the output of a program in a fresh interpreter."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_trailing_bytes_of_wide_buffers_are_counted_in_bytes() -> None:
    whole = FetchRequest().write(4)
    data = array.array("i", bytes(len(whole) * 4))
    memoryview(data).cast("B")[: len(whole)] = whole
    with pytest.raises(DecodeError) as error:
        FetchRequest.read(data, 4)  # type: ignore[arg-type]
    with pytest.raises(DecodeError) as expected:
        FetchRequest.read(bytes(data), 4)
    assert str(error.value) == str(expected.value)


def test_buffer_of_wide_elements_is_read_natively() -> None:
    whole = FetchRequest(max_wait_ms=7).write(3 + 1)
    message = b"\0" + whole  # with a prefix byte, for an even length
    assert len(message) % 2 == 0
    data = memoryview(array.array("h", message))
    before = declined(FetchRequest)
    assert FetchRequest.read_from(data, 1, 4) == (FetchRequest(max_wait_ms=7), len(message))
    topic = FetchTopic(topic="a", partitions=[FetchPartition(partition=1)])
    even = FetchRequest(topics=[topic]).write(4)
    assert len(even) % 2 == 0
    assert FetchRequest.read(memoryview(array.array("h", even)), 4) == FetchRequest(topics=[topic])
    assert declined(FetchRequest) == before


def test_list_emptied_during_its_copy_is_safe() -> None:
    program = """
        import gc
        from kafka_messages.messages.create_topics_request import CreatableTopic, CreateTopicsRequest

        class Circle:
            def __init__(self):
                self.itself = self
            def __del__(self):
                topics.clear()

        CreateTopicsRequest().write(7)
        gc.disable()
        for allocations in range(12):
            topics = [CreatableTopic(name=str(i)) for i in range(100)]
            gc.collect()
            Circle()
            gc.set_threshold(gc.get_count()[0] + allocations)
            gc.enable()
            found = CreateTopicsRequest(topics=topics)
            gc.disable()
            assert len(found.topics) in (0, 100), len(found.topics)
        print("done")
    """
    assert run_in_new_process(program) == "done\n"


def test_finalizer_changing_the_class_keeps_reference_counts() -> None:
    class Other(ReplicaState):
        __slots__ = ()

    FetchRequest().write(4)

    def change(self: Any) -> None:
        self.__class__ = Other

    ReplicaState.__del__ = change  # type: ignore[attr-defined]
    try:
        before = sys.getrefcount(ReplicaState), sys.getrefcount(Other)
        for _ in range(100):
            ReplicaState()
        assert (sys.getrefcount(ReplicaState), sys.getrefcount(Other)) == before
    finally:
        del ReplicaState.__del__  # type: ignore[attr-defined]


def test_finalizer_runs_only_for_complete_objects() -> None:
    FetchRequest().write(4)
    seen: list[int] = []
    FetchTopic.__del__ = lambda self: seen.append(len(self.partitions))  # type: ignore[attr-defined]
    try:
        FetchTopic(topic="a", partitions=iter([FetchPartition()]))
    finally:
        del FetchTopic.__del__  # type: ignore[attr-defined]
    assert seen == [1]


def test_constructor_replaced_before_first_use_is_called() -> None:
    program = """
        import sys
        from kafka_messages.messages.fetch_request import FetchTopic, FetchRequest
        calls = []
        printed = FetchTopic.__init__
        def wrapped(self, **given):
            calls.append(given)
            printed(self, **given)
        FetchTopic.__init__ = wrapped
        FetchTopic(topic="a")
        FetchRequest().write(4)
        assert FetchTopic(topic="b").topic == "b"
        print(len(calls))
        FetchTopic.__init__ = printed
        assert FetchTopic(topic="b").topic == "b"
        print(len(calls))
        frames = set()
        sys.setprofile(lambda frame, event, argument: frames.add(frame.f_code.co_qualname))
        FetchRequest(), FetchTopic()
        sys.setprofile(None)
        print("FetchRequest.__init__" in frames, "FetchTopic.__init__" in frames)
    """
    assert run_in_new_process(program) == "2\n2\nFalse True\n"


@pytest.mark.parametrize("failure", ["SystemError", "AttributeError", "OSError"])
def test_core_that_fails_to_load_falls_back_to_pure(failure: str) -> None:
    program = f"""
        import sys
        from importlib.abc import MetaPathFinder

        class Broken(MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "kafka_messages_native":
                    raise {failure}("broken")
        sys.meta_path.insert(0, Broken())
        from kafka_messages import FetchRequest, implementation
        from kafka_messages._core.native import reason
        print(len(FetchRequest().write(4)), implementation(), reason)
    """
    assert run_in_new_process(program) == "21 pure broken\n"


def test_text_changed_by_another_process_is_read_consistently() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    program = """
        import mmap, os, signal, time
        from kafka_messages.messages.fetch_request import FetchRequest
        text = "a" * 30000
        data = FetchRequest(rack_id=text).write(11)
        shared = mmap.mmap(-1, len(data))
        shared[:] = data
        at = data.index(b"aaaa") + 29000
        child = os.fork()
        end = time.monotonic() + 1.5
        while child == 0:
            for _ in range(1000):
                shared[at] = 0xc3
                shared[at] = 0x61
            if time.monotonic() > end + 10:
                os._exit(0)
        wrong = 0
        while time.monotonic() < end:
            try:
                found = FetchRequest.read(shared, 11).rack_id
            except Exception:
                continue
            wrong += found.isascii() and found != text
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(wrong)
    """
    assert run_in_new_process(program) == "0\n"


def test_native_methods_have_the_module_of_pure_ones() -> None:
    FetchRequest().write(4)
    assert FetchRequest.read.__module__ == FetchRequest.write.__module__ == "kafka_messages._base.message"


@needs_buffers
def test_keyboard_interrupt_is_propagated() -> None:
    asked = []

    class Data:
        def __buffer__(self, flags: int) -> memoryview:
            asked.append(flags)
            if len(asked) == 1:
                raise KeyboardInterrupt
            return memoryview(b"")

    ApiVersionsRequest().write(0)
    data: Any = Data()
    with pytest.raises(KeyboardInterrupt):
        ApiVersionsRequest.read(data, 0)


@needs_buffers
def test_recursion_through_buffers_ends_with_the_first_error() -> None:
    """If each level called the pure code after its error, the number of calls would double with each level."""
    program = """
        import sys
        from kafka_messages import ApiVersionsRequest

        asked = 0

        class Data:
            def __buffer__(self, flags):
                global asked
                asked += 1
                return memoryview(ApiVersionsRequest.read(self, 0).write(0))

        ApiVersionsRequest().write(0)
        sys.setrecursionlimit(200)
        try:
            ApiVersionsRequest.read(Data(), 0)
        except RecursionError as error:
            print(asked < 200, str(error).split(" while")[0])
    """
    assert run_in_new_process(program) == "True maximum recursion depth exceeded\n"


@pytest.mark.parametrize("args", [(None, "text"), (None, 5), (5, "text"), (FetchRequest(), "text"), (5,), (None, int)])
def test_methods_bind_like_class_methods(args: tuple[Any, ...]) -> None:
    for name in ("read", "read_from"):
        method = vars(Message)[name]
        assert type(method) is core.ReadMethod
        (pure,) = (each for each in gc.get_referents(method) if isinstance(each, classmethod))
        assert repr(method.__get__(*args)) == repr(pure.__get__(*args))


def test_reader_of_an_attribute_that_is_no_method_returns_it() -> None:
    class Base:
        read = 5

    assert core.ReadMethod(native._package, Base, "read").__get__(None, Base) == 5


def test_readers_are_complete_when_other_code_finds_them() -> None:
    """A class method of a class method runs other code when it is bound; CPython 3.13 and newer bind only the outer one."""
    program = """
        import gc
        import kafka_messages_native as core
        from kafka_messages import ApiVersionsRequest
        from kafka_messages._core import native

        class Read:
            def __get__(self, owner, cls):
                for each in gc.get_objects():
                    if type(each) is core.Reader:
                        print(each.__name__)
                return cls

        class Base:
            read = classmethod(Read())

        ApiVersionsRequest().write(0)
        Base._native = ApiVersionsRequest._native
        core.ReadMethod(native._package, Base, "read").__get__(None, Base)
        ApiVersionsRequest.read
        core.ReadMethod(native._package, Base, "read").__get__(None, Base)
    """
    assert run_in_new_process(program) == ("read\n" if sys.version_info < (3, 13) else "")


def test_makers_of_other_classes_are_not_found() -> None:
    """The representation of a class that is refused may look for objects that are not yet complete."""
    found: list[object] = []

    class Looking(type):
        def __repr__(cls) -> str:
            found.extend(each for each in gc.get_objects() if type(each) is core.Maker and each not in before)
            return "other"

    class Other(metaclass=Looking):
        __slots__ = ()

    before = [each for each in gc.get_objects() if type(each) is core.Maker]
    with pytest.raises(TypeError, match=r"^other is not a class of the plan$"):
        core.Maker(opened(FetchRequest), Other)
    assert found == []
