"""Which rendering is on: by itself, by environment, by call, without the core or with another one, and from many threads."""

from __future__ import annotations

import pickle
from unittest import mock

import kafka_messages_proposals._core.native as other
import pytest
from kafka_messages import HeartbeatRequest, LeaveGroupRequest
from kafka_messages._core import native
from kafka_messages._core.native import rendering, set_rendering

from tests.support.renderings import calls_of, script

USED = """
import kafka_messages
from kafka_messages._core import native
assert kafka_messages.HeartbeatRequest.read(kafka_messages.HeartbeatRequest(group_id="g").write(4), 4).group_id == "g"
kind = type(vars(kafka_messages.HeartbeatRequest.__mro__[1]).get("read")).__name__
print(native.rendering(), kind, native._door.reason)
"""


def absent(name: str = "kafka_messages_native") -> str:
    """A program's start that makes a module as if it were not installed."""
    return f"import sys; sys.modules[{name!r}] = None\n"


def test_set_rendering() -> None:
    """Both ways and back: what is on is what runs, and every message of the package follows.

    In a process of its own: a class that another test derived from one of the messages would stand between them and the core.
    """
    text = """
from kafka_messages import HeartbeatRequest, MetadataResponse
from kafka_messages._core.native import rendering, set_rendering
from tests.support.renderings import calls_of, declined
calls_of(HeartbeatRequest)
calls_of(MetadataResponse)
for wanted in ("pure", "native", "native", "pure", "pure", "native"):
    set_rendering(wanted)
    assert rendering() == wanted
    for cls in (HeartbeatRequest, MetadataResponse):
        before = declined(cls)
        assert cls.read(cls().write(1), 1) == cls()
        assert cls().size(1) == len(cls().write(1))
        assert (type(cls.read).__name__ == "Reader") == (wanted == "native")
        assert declined(cls) == before
print("done")
"""
    assert script(text) == "done\n"


def test_an_unknown_rendering() -> None:
    """Another word is refused, and nothing is switched."""
    with pytest.raises(ValueError, match=r"^rendering must be 'native' or 'pure', not 'fast'$"):
        set_rendering("fast")  # type: ignore[arg-type]
    assert rendering() == "native"


@pytest.mark.parametrize(
    ("value", "wanted"), [("0", "pure NoneType \n"), ("1", "native Reader \n"), ("", "native Reader \n")]
)
def test_environment(value: str, wanted: str) -> None:
    """The variable is read when the package is imported; only 0 switches off."""
    assert script(USED, KAFKA_MESSAGES_NATIVE=value) == wanted


def test_environment_and_then_switched_on() -> None:
    """A program may still ask for the core where the variable switched it off."""
    text = "from kafka_messages._core import native; native.set_rendering('native')\n" + USED
    assert script(text, KAFKA_MESSAGES_NATIVE="0") == "native Reader \n"


def test_without_the_core() -> None:
    """Everything works, purely; asking for the core says what is missing."""
    text = f"{absent()}{USED}\ntry:\n    native.set_rendering('native')\nexcept ImportError as error:\n    print(error)"
    reason = "import of kafka_messages_native halted; None in sys.modules"
    assert script(text) == f"pure NoneType {reason}\nthe native core is not there: {reason}\n"


def test_a_core_of_another_format() -> None:
    """A core that reads other plans is not used, and the reason is said with both numbers."""
    text = f"""
import kafka_messages_native
kafka_messages_native.FORMAT = 7
{USED}
try:
    native.set_rendering("native")
except ImportError as error:
    print(error)
"""
    reason = "it reads plans of format 7, and those of this package have format 1"
    assert script(text) == f"pure NoneType {reason}\nthe native core is not there: {reason}\n"


def test_a_plan_that_does_not_fit() -> None:
    """One message whose plan is damaged stays pure, with the reason in ``refused()``; the others are native."""
    text = """
import kafka_messages
from kafka_messages._core import native
from kafka_messages import HeartbeatRequest, HeartbeatResponse
owner = HeartbeatRequest.__mro__[1]
owner._plan = owner._plan.replace("group_id/s", "group_id/x")
assert HeartbeatRequest.read(HeartbeatRequest(group_id="g").write(4), 4) == HeartbeatRequest(group_id="g")
assert HeartbeatResponse.read(HeartbeatResponse().write(4), 4) == HeartbeatResponse()
print(native.rendering(), type(HeartbeatRequest.read).__name__, type(HeartbeatResponse.read).__name__)
print(native.refused())
native.set_rendering("pure")
native.set_rendering("native")
print(type(HeartbeatRequest.read).__name__, type(HeartbeatResponse.read).__name__)
"""
    assert script(text).splitlines() == [
        "native method Reader",
        "{'HeartbeatRequest': ValueError('line 2 of the plan: a letter that is no type')}",
        "method Reader",
    ]


def test_first_use_from_threads() -> None:
    """Sixteen threads use messages for the first time, while importing the core takes long: all of them natively.

    Those that came second were once told that there is no core, and switched it off for all.
    """
    text = """
import sys, threading, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("kafka_messages_native"):
            time.sleep(0.2)
sys.meta_path.insert(0, Slow())
import kafka_messages
from kafka_messages._core import native
names = [name for name in kafka_messages._MODULES if name.endswith(("Request", "Response"))][:60]
classes = [getattr(kafka_messages, name) for name in names]
start = threading.Barrier(16)
wrong = []
def work():
    start.wait()
    for cls in classes:
        version = cls.HIGHEST_SUPPORTED_VERSION
        if version >= 0 and cls.read(cls().write(version), version) != cls():
            wrong.append(cls)
threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
kinds = {type(cls.read).__name__ for cls in classes if cls.HIGHEST_SUPPORTED_VERSION >= 0}
print(native.rendering(), wrong, native.refused(), kinds)
"""
    assert script(text) == "native [] {} {'Reader'}\n"


def test_switching_from_threads() -> None:
    """One thread switches while others use messages for the first time: none fails, and the last word counts for all."""
    text = """
import sys, threading
sys.setswitchinterval(1e-5)
import kafka_messages
from kafka_messages._core import native
names = [name for name in kafka_messages._MODULES if name.endswith(("Request", "Response"))][:120]
classes = [cls for cls in (getattr(kafka_messages, name) for name in names) if cls.HIGHEST_SUPPORTED_VERSION >= 0]
failed = []
def work():
    try:
        for cls in classes:
            version = cls.HIGHEST_SUPPORTED_VERSION
            assert cls.read(cls().write(version), version) == cls()
    except Exception as error:
        failed.append(error)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
while any(thread.is_alive() for thread in threads):
    native.set_rendering("pure")
    native.set_rendering("native")
native.set_rendering("pure")
print(failed, {type(cls.read).__name__ for cls in classes}, {type(cls.write).__name__ for cls in classes})
"""
    assert script(text) == "[] {'method'} {'function'}\n"


def test_after_a_fork() -> None:
    """A child of a process whose other thread is just asking for the core asks anew, and does not wait for that thread."""
    text = """
import os, sys, threading, time
import kafka_messages
from kafka_messages._core import native
with native._door._lock:
    done = threading.Event()
    def child():
        pid = os.fork()
        if pid == 0:
            kafka_messages.HeartbeatRequest().write(4)
            os._exit(7)
        for _ in range(200):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                print(os.waitstatus_to_exitcode(status))
                break
            time.sleep(0.05)
        else:
            os.kill(pid, 9)
            print("the child hangs")
        done.set()
    threading.Thread(target=child).start()
    done.wait()
"""
    assert script(text) == "7\n"


# --- methods of others ------------------------------------------------------------------------------------------------


def test_overridden_methods() -> None:
    """A subclass that overrides and calls ``super()`` gets what the pure code would give it."""

    class Counted(HeartbeatRequest):
        calls = 0

        @classmethod
        def read(cls, data, version):  # type: ignore[no-untyped-def]
            cls.calls += 1
            return super().read(data, version)

        @classmethod
        def read_from(cls, data, offset, version):  # type: ignore[no-untyped-def]
            cls.calls += 1
            return super().read_from(data, offset, version)

        def write(self, version: int) -> bytes:
            type(self).calls += 1
            return b"<" + super().write(version)

        def size(self, version: int) -> int:
            type(self).calls += 1
            return 1 + super().size(version)

    calls_of(HeartbeatRequest)
    message = Counted(group_id="g")
    data = message.write(4)
    assert data == b"<" + HeartbeatRequest(group_id="g").write(4)
    assert message.size(4) == len(data)
    assert Counted.read(data[1:], 4) == Counted.read_from(data, 1, 4)[0] == HeartbeatRequest(group_id="g")
    assert Counted.calls == 4


def test_patched_methods() -> None:
    """``mock.patch.object`` on a message holds, and what was there is there again afterwards; also across a switch.

    Of a message that nobody derived a class from: of others a method of Python's reads.
    """
    calls_of(LeaveGroupRequest)
    for name in ("read", "read_from", "write", "size"):
        with mock.patch.object(LeaveGroupRequest, name, return_value="patched") as patched:
            assert getattr(LeaveGroupRequest, name)(b"", 4) == "patched"
            set_rendering("pure")
            set_rendering("native")
            assert getattr(LeaveGroupRequest(), name)(4) == "patched"
            assert patched.call_count == 2
        assert type(getattr(LeaveGroupRequest, name)).__name__ in ("Reader", "Writer")


def test_a_stranger_patches_the_base() -> None:
    """What the core is for one class, it is not for another: a Reader in a class of somebody's own reads its message."""
    calls_of(HeartbeatRequest)

    class Elsewhere:
        read = HeartbeatRequest.read

    data = HeartbeatRequest(group_id="g").write(4)
    assert Elsewhere.read(data, 4) == Elsewhere().read(data, 4) == HeartbeatRequest(group_id="g")


def test_a_module_imported_again() -> None:
    """The classes of a module that was dropped and imported anew are opened natively too; the old ones go on."""
    text = """
import sys
from kafka_messages._core import native
from kafka_messages.messages.heartbeat_request import HeartbeatRequest as Old
data = Old(group_id="g").write(4)
del sys.modules["kafka_messages.messages.heartbeat_request"]
from kafka_messages.messages.heartbeat_request import HeartbeatRequest as New
assert Old is not New
assert Old.read(data, 4).write(4) == New.read(data, 4).write(4) == data
assert (type(Old.read(data, 4)), type(New.read(data, 4))) == (Old, New)
print(type(Old.read).__name__, type(New.read).__name__)
"""
    assert script(text) == "Reader Reader\n"


def test_pickled_methods() -> None:
    """Bound methods and readers are sent to other processes by name."""
    calls_of(HeartbeatRequest)
    message = HeartbeatRequest(group_id="g")
    data = message.write(4)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(message.write, protocol))(4) == data
        assert pickle.loads(pickle.dumps(HeartbeatRequest.read, protocol))(data, 4) == message


def test_doors_are_apart() -> None:
    """Two generated packages in one process are switched apart."""
    before = other.rendering()
    try:
        other.set_rendering("native")
        set_rendering("pure")
        assert (native.rendering(), other.rendering()) == ("pure", "native")
        other.set_rendering("pure")
        set_rendering("native")
        assert (native.rendering(), other.rendering()) == ("native", "pure")
    finally:
        other.set_rendering(before)


def test_a_derived_class_that_is_gone_costs_nothing_any_more() -> None:
    """The base was read four times slower as soon as one class had been derived from it, for as long as the program ran."""
    text = """
import gc
from kafka_messages import HeartbeatRequest
data = HeartbeatRequest(group_id="g").write(4)
HeartbeatRequest.read(data, 4)
class Beat(HeartbeatRequest):
    pass
kinds = [type(HeartbeatRequest.read).__name__]
assert type(Beat.read(data, 4)) is Beat and type(HeartbeatRequest.read(data, 4)) is HeartbeatRequest
kinds.append(type(HeartbeatRequest.read).__name__)
del Beat
gc.collect()
HeartbeatRequest.read(data, 4)
print(*kinds, type(HeartbeatRequest.read).__name__, type(HeartbeatRequest.read_from).__name__)
"""
    assert script(text) == "method method Reader Reader\n"


HIDING = """
from kafka_messages import HeartbeatRequest
data = bytes.fromhex("0267 00000000 01 00 00")
class Hiding:
    def __init_subclass__(cls, **named):
        pass  # and no word to the bases that come later
def tried(read, *args, **named):
    try:
        return type(read(*args, **named)).__name__
    except TypeError as error:
        return str(error)
"""


@pytest.mark.parametrize("is_native", ["0", "1"])
def test_a_derived_class_of_which_the_message_was_not_told(is_native: str) -> None:
    """Before the message is used this needs no word: the first use asks for the class."""
    text = """
class Mine(Hiding, HeartbeatRequest):
    pass
print(*[tried(cls.read, data, 4) for cls in (Mine, HeartbeatRequest, Mine)])
"""
    assert script(HIDING + text, KAFKA_MESSAGES_NATIVE=is_native) == "Mine HeartbeatRequest Mine\n"


def test_a_derived_class_of_which_a_message_in_use_was_not_told() -> None:
    """It was read as the message itself, without a word. Now the first call says so, and from then on the class is asked for.

    A reader that somebody kept does not get to know the class: it goes on to refuse, and is as before for classes that
    the message was told of.
    """
    text = """
import gc
HeartbeatRequest.read(data, 4)
kept = HeartbeatRequest.read
print(tried(kept, data, 4))
class Mine(Hiding, HeartbeatRequest):
    pass
mine = Mine.read
print(tried(Mine.read, data, 4))
print(*[tried(cls.read, data, 4) for cls in (Mine, HeartbeatRequest)])
print(tried(kept, data, 4), tried(mine, data, version=4), sep="\\n")
del Mine, mine
gc.collect()
class Told(HeartbeatRequest):
    pass
print(*[tried(read, data, 4) for read in (kept, HeartbeatRequest.read, Told.read)])
class Late(Hiding, HeartbeatRequest):
    pass
print(*[tried(lambda: cls.read_from(data, 0, 4)[0]) for cls in (Late, Told)])
print(tried(kept, data, 4))
"""
    heartbeat = "HeartbeatRequest"
    remedy = "Hiding.__init_subclass__ must call super().__init_subclass__()"
    mine, late = (f"{name} is derived from {heartbeat}, which was not told: {remedy}" for name in ("Mine", "Late"))
    assert script(HIDING + text).splitlines() == [
        heartbeat,
        mine,
        f"Mine {heartbeat}",
        mine,
        mine,
        f"{heartbeat} {heartbeat} Told",
        "Late Told",
        late,
    ]


def test_reading_from_an_offset_into_a_class_of_which_the_message_was_not_told() -> None:
    """The other reader has the same door."""
    text = """
HeartbeatRequest.read_from(data, 0, 4)
class Mine(Hiding, HeartbeatRequest):
    pass
print(tried(lambda: Mine.read_from(data, 0, 4)[0]).partition(",")[0])
print(tried(lambda: Mine.read_from(data, 0, 4)[0]))
"""
    assert script(HIDING + text) == "Mine is derived from HeartbeatRequest\nMine\n"


def test_readers_while_a_class_is_being_derived() -> None:
    """Between the creation of a derived class and its ``__init_subclass__`` other threads read the message as before."""
    text = """
from concurrent.futures import ThreadPoolExecutor

class Reading:
    def __set_name__(self, owner, name):
        found = pool.submit(tried, HeartbeatRequest.read, data, 4)
        print(found.result() if owner.__name__ == "Waiting" else "reads")
        running.append(found)

class Telling:
    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)

running = []
HeartbeatRequest.read(data, 4)
HeartbeatRequest.read_from(data, 0, 4)
with ThreadPoolExecutor() as pool:
    class Waiting(HeartbeatRequest):
        hook = Reading()
    print(tried(Waiting.read, data, 4))
    del Waiting
    class Going(Telling, HeartbeatRequest):
        hook = Reading()
    print(running[-1].result(), tried(Going.read, data, 4))
"""
    assert script(HIDING + text).splitlines() == ["HeartbeatRequest", "Waiting", "reads", "HeartbeatRequest Going"]
