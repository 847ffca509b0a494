"""Choice between native core and pure code; subclassed, patched and pickled methods."""

from __future__ import annotations

import pickle
import sys
from typing import Any, Self
from unittest import mock

import pytest
from kafka_messages import HeartbeatRequest, LeaveGroupRequest

from tests.support.implementations import script

USED = """
import kafka_messages
from kafka_messages._core import native
assert kafka_messages.HeartbeatRequest.read(kafka_messages.HeartbeatRequest(group_id="g").write(4), 4).group_id == "g"
print(kafka_messages.implementation(), type(kafka_messages.HeartbeatRequest.read).__name__, native.reason)
"""
LEFT_TO_PYTHON = "HeartbeatRequest is left to pure Python code, because the native core refused its plan"
REMEDY = "update kafka-messages-native"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("0", "pure method KAFKA_MESSAGES_NATIVE is 0\n"), ("1", "native Reader \n"), ("", "native Reader \n")],
)
def test_environment_variable_selects_the_implementation(value: str, wanted: str) -> None:
    assert script(USED, KAFKA_MESSAGES_NATIVE=value) == wanted


def test_missing_core_falls_back_to_pure() -> None:
    text = f"import sys; sys.modules['kafka_messages_native'] = None\n{USED}"
    assert script(text) == "pure method import of kafka_messages_native halted; None in sys.modules\n"


def test_core_of_another_plan_format_is_not_used() -> None:
    text = f"import kafka_messages_native\nkafka_messages_native.FORMAT = 7\n{USED}"
    assert script(text) == "pure method the core reads plan format 7, but this package has format 1\n"


@pytest.mark.parametrize("error", ["MemoryError", "RecursionError"])
def test_failed_import_of_the_core_is_retried(error: str) -> None:
    text = f"""
import sys
class Failing:
    def find_spec(self, name, path=None, target=None):
        if name == "kafka_messages_native":
            raise {error}
sys.meta_path.insert(0, Failing())
import kafka_messages
try:
    kafka_messages.HeartbeatRequest
except {error}:
    sys.meta_path.pop(0)
print(type(kafka_messages.HeartbeatRequest.read).__name__)
"""
    assert script(text) == "Reader\n"


@pytest.mark.parametrize("name", ["Plan", "Package"])
def test_core_that_refuses_the_classes_of_this_python_is_not_used(name: str) -> None:
    text = f"""
import kafka_messages_native
def refuse(*args):
    raise ValueError("line 2 of the plan: the class of a struct must have only __slots__")
kafka_messages_native.{name} = refuse
{USED}
print(native.native_columns(), native.filled)
"""
    reason = "line 2 of the plan: the class of a struct must have only __slots__"
    version = sys.version.split()[0]
    assert script(text, PYTHONWARNINGS="error").splitlines() == [
        f"pure method the core does not work with Python {version} ({reason}); update kafka-messages-native",
        "None None",
    ]


def test_probe_has_a_struct_without_fields() -> None:
    text = """
import kafka_messages_native as core
Plan = core.Plan
def plan(package, text, classes):
    print(text.splitlines(), [base.__slots__ for base in classes["Empty"].__mro__[:2]])
    return Plan(package, text, classes)
core.Plan = plan
import kafka_messages
print(kafka_messages.implementation())
"""
    assert script(text).splitlines() == [
        "['1', ':Empty', '0 ;', ':Probe empty/@Empty number/i', '0 0@0 1 ;'] "
        "[('empty', 'number', 'unknown_tagged_fields'), ()]",
        "native",
    ]


def test_invalid_plan_falls_back_to_pure_for_its_message_and_warns_once() -> None:
    text = """
import warnings
import kafka_messages
from kafka_messages._core import native
from kafka_messages import HeartbeatRequest, HeartbeatResponse
owner = HeartbeatRequest.__mro__[1]
owner._plan = owner._plan.replace("group_id/s", "group_id/x")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        assert HeartbeatRequest.read(HeartbeatRequest(group_id="g").write(4), 4) == HeartbeatRequest(group_id="g")
        assert HeartbeatResponse.read(HeartbeatResponse().write(4), 4) == HeartbeatResponse()
print(*[(each.category.__name__, str(each.message), each.filename) for each in caught])
print(kafka_messages.implementation(), type(HeartbeatRequest.read).__name__, type(HeartbeatResponse.read).__name__)
print(native.refused)
"""
    assert script(text).splitlines() == [
        str(("RuntimeWarning", f"{LEFT_TO_PYTHON} (line 2 of the plan: unknown type letter); {REMEDY}", "<string>")),
        "native method Reader",
        "{'HeartbeatRequest': ValueError('line 2 of the plan: unknown type letter')}",
    ]


def test_invalid_plan_of_columns_warns_once() -> None:
    pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    text = """
import warnings
import pyarrow as pa
from kafka_messages import HeartbeatRequest, arrow
rows = pa.array([HeartbeatRequest(group_id="g").write(4)])
HeartbeatRequest.__mro__[1]._plan = "7"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for options in ({}, {"unknown_tagged_fields": True}):
        found = arrow.decode(rows, HeartbeatRequest, 4, **options)
    assert arrow.encode(found, HeartbeatRequest, 4).equals(rows)
print(*[(each.category.__name__, str(each.message), each.filename) for each in caught])
"""
    message = f"{LEFT_TO_PYTHON} (line 1 of the plan: unsupported plan format); {REMEDY}"
    assert script(text).splitlines() == [str(("RuntimeWarning", message, "<string>"))]


def test_warning_as_error_is_raised_once() -> None:
    text = """
from kafka_messages import HeartbeatRequest
HeartbeatRequest.__mro__[1]._plan = "7"
try:
    HeartbeatRequest.read
except RuntimeWarning as error:
    print(error)
print(HeartbeatRequest.read(HeartbeatRequest().write(4), 4) == HeartbeatRequest())
"""
    assert script(text, PYTHONWARNINGS="error::RuntimeWarning").splitlines() == [
        f"{LEFT_TO_PYTHON} (line 1 of the plan: unsupported plan format); {REMEDY}",
        "True",
    ]


def test_first_use_in_many_threads_is_native() -> None:
    text = """
import sys, threading
sys.setswitchinterval(1e-5)
import kafka_messages
from kafka_messages._core import native
names = [name for name in kafka_messages._MODULES if name.endswith(("Request", "Response"))][:60]
start = threading.Barrier(16)
wrong = []
def work():
    start.wait()
    for name in names:
        cls = getattr(kafka_messages, name)
        version = cls.HIGHEST_SUPPORTED_VERSION
        if version >= 0 and cls.read(cls().write(version), version) != cls():
            wrong.append(cls)
threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
classes = [getattr(kafka_messages, name) for name in names]
kinds = {type(cls.read).__name__ for cls in classes if cls.HIGHEST_SUPPORTED_VERSION >= 0}
print(wrong, native.refused, kinds, sum(cls._native.declined for cls in classes if cls.HIGHEST_SUPPORTED_VERSION >= 0))
"""
    assert script(text) == "[] {} {'Reader'} 0\n"


def test_core_works_after_a_fork() -> None:
    text = """
import os
from kafka_messages import HeartbeatRequest, LeaveGroupRequest
HeartbeatRequest().write(4)
pid = os.fork()
if pid == 0:
    for cls in (HeartbeatRequest, LeaveGroupRequest):
        assert cls.read(cls().write(4), 4) == cls() and cls._native.declined == 0
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert script(text) == "7\n"


# --- patched methods --------------------------------------------------------------------------------------------------


def test_overridden_methods_are_called() -> None:
    class Counted(HeartbeatRequest):
        calls = 0

        @classmethod
        def read(cls, data: Any, version: int, **options: Any) -> Self:
            cls.calls += 1
            return super().read(data, version, **options)

        @classmethod
        def read_from(cls, data: Any, offset: int, version: int, **options: Any) -> tuple[Self, int]:
            cls.calls += 1
            return super().read_from(data, offset, version, **options)

        def write(self, version: int, **options: Any) -> bytes:
            type(self).calls += 1
            return b"<" + super().write(version, **options)

        def size(self, version: int, **options: Any) -> int:
            type(self).calls += 1
            return 1 + super().size(version, **options)

    message = Counted(group_id="g")
    data = message.write(4)
    assert data == b"<" + HeartbeatRequest(group_id="g").write(4)
    assert message.size(4) == len(data)
    assert Counted.read(data[1:], 4) == Counted.read_from(data, 1, 4)[0] == HeartbeatRequest(group_id="g")
    assert Counted.calls == 4


def test_patched_methods_are_called_and_restored() -> None:
    for name in ("read", "read_from", "write", "size"):
        with mock.patch.object(LeaveGroupRequest, name, return_value="patched") as patched:
            assert getattr(LeaveGroupRequest, name)(b"", 4) == "patched"
            assert getattr(LeaveGroupRequest(), name)(4) == "patched"
            assert patched.call_count == 2
        assert type(getattr(LeaveGroupRequest, name)).__name__ in ("Reader", "WriteMethod")


def test_read_works_as_attribute_of_another_class() -> None:
    class Elsewhere:
        read = HeartbeatRequest.read

    data = HeartbeatRequest(group_id="g").write(4)
    assert Elsewhere.read(data, 4) == Elsewhere().read(data, 4) == HeartbeatRequest(group_id="g")


def test_reimported_module_returns_its_own_class_from_read() -> None:
    text = """
import sys
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


def test_methods_can_be_pickled() -> None:
    message = HeartbeatRequest(group_id="g")
    data = message.write(4)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(message.write, protocol))(4) == data
        assert pickle.loads(pickle.dumps(HeartbeatRequest.read, protocol))(data, 4) == message
    with pytest.raises(RuntimeError) as caught:
        eval("read.__reduce__()", {"__builtins__": {}, "read": HeartbeatRequest.read})
    assert str(caught.value) == "cannot pickle a method: getattr is missing from the builtins namespace"


def test_subclasses_are_read_natively() -> None:
    text = """
import gc
from kafka_messages import HeartbeatRequest
data = HeartbeatRequest(group_id="g").write(4)
kept = HeartbeatRequest.read
class Beat(HeartbeatRequest):
    pass
class Deeper(Beat):
    pass
for cls in (HeartbeatRequest, Beat, Deeper):
    framed = cls.read_from(b"x" + data, 1, 4)[0]
    for found in (cls.read(data, 4), framed, cls().read(data, 4), cls.read(data=data, version=4)):
        assert type(found) is cls and found.group_id == "g"
assert type(kept(data, 4)) is HeartbeatRequest
print(type(Deeper.read).__name__, HeartbeatRequest._native.declined)
del Beat, Deeper, cls, found, framed
gc.collect()
assert HeartbeatRequest.read is kept and not HeartbeatRequest.__subclasses__()
"""
    assert script(text) == "Reader 0\n"


SILENT = """
from kafka_messages import HeartbeatRequest
data = bytes.fromhex("0267 00000000 01 00 00")
HeartbeatRequest.read(data, 4)
class Silent:
    def __init_subclass__(cls, **named):
        pass  # does not call super().__init_subclass__()
class Mine(Silent, HeartbeatRequest):
    pass
classes = [type(cls.read(data, 4)) for cls in (Mine, HeartbeatRequest, Mine)]
print(*[cls.__name__ for cls in classes], type(Mine.read_from(data, 0, 4)[0]).__name__)
"""


@pytest.mark.parametrize("is_native", ["0", "1"])
def test_subclass_without_super_init_subclass_is_read(is_native: str) -> None:
    assert script(SILENT, KAFKA_MESSAGES_NATIVE=is_native) == "Mine HeartbeatRequest Mine Mine\n"


@pytest.mark.parametrize("is_native", ["0", "1"])
def test_wrapper_of_message_write_is_called(is_native: str) -> None:
    text = """
from kafka_messages import HeartbeatRequest, Message
HeartbeatRequest().write(4)
old, calls = Message.write, []
def wrapper(self, version):
    calls.append(type(self).__name__)
    return old(self, version)
Message.write = wrapper
print(HeartbeatRequest().write(4) == HeartbeatRequest().write(version=4), calls)
"""
    assert script(text, KAFKA_MESSAGES_NATIVE=is_native) == "True ['HeartbeatRequest', 'HeartbeatRequest']\n"


def test_concurrent_reads_during_subclassing_return_the_right_class() -> None:
    text = """
from concurrent.futures import ThreadPoolExecutor
from kafka_messages import HeartbeatRequest
data = HeartbeatRequest(group_id="g").write(4)

class Reading:
    def __set_name__(self, owner, name):
        print(*[type(pool.submit(cls.read, data, 4).result()).__name__ for cls in (HeartbeatRequest, owner)])

with ThreadPoolExecutor() as pool:
    class Mine(HeartbeatRequest):
        hook = Reading()
    stop = []
    running = pool.submit(lambda: {type(HeartbeatRequest.read(data, 4)) for _ in iter(lambda: bool(stop), True)})
    for _ in range(200):
        class Other(HeartbeatRequest):
            pass
        assert type(Other.read(data, 4)) is Other
    stop.append(1)
    print(*[cls.__name__ for cls in running.result() or {HeartbeatRequest}], HeartbeatRequest._native.declined)
"""
    assert script(text).splitlines() == ["HeartbeatRequest Mine", "HeartbeatRequest 0"]
