"""Sub-interpreters with a lock of their own (PEP 684), in each CPython of this machine since 3.12; 3.11 declines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_protocol_upstream.publish.interpreters import Interpreter, interpreters
from tests.fuzz.build import build
from tests.support.implementations import script
from tests.support.pages import ROOT

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler: cc")
NEWER = [each for each in interpreters() if each.version >= (3, 12)]
FOLDERS = [str(ROOT / each / "src") for each in ("generated", "packages/records")]
Script = Callable[..., str]

INTERPRETERS = """
import os, sys, threading
try:
    import _interpreters
    create = _interpreters.create  # "isolated" has a lock of its own, "legacy" has not
except ImportError:  # CPython 3.12
    import _xxsubinterpreters as _interpreters
    create = lambda kind: _interpreters.create(isolated=kind == "isolated")

def run(code, kind="isolated"):
    created = create(kind)
    failed = _interpreters.run_string(created, f"import os, sys; sys.path[:] = {sys.path!r}\\n{code}")
    _interpreters.destroy(created)
    assert failed is None, failed.formatted
"""
WORK = """
import kafka_messages, kafka_records
from kafka_messages import HeartbeatRequest, MetadataResponse
from kafka_messages.messages.metadata_response import MetadataResponsePartition, MetadataResponseTopic

partition = MetadataResponsePartition(partition_index=3, leader_id=1, replica_nodes=[1, 2], isr_nodes=[2])
metadata = MetadataResponse(cluster_id="é", topics=[MetadataResponseTopic(name="t", partitions=[partition])])
heartbeat = HeartbeatRequest(group_id="g", generation_id=100_000, member_id="m")
records = [kafka_records.Record(n, n, b"k", b"v" * n) for n in range(20)]
batch = kafka_records.write_batch(records)

def check():
    assert MetadataResponse.read(metadata.write(12), 12) == metadata
    assert HeartbeatRequest.read(heartbeat.write(4), 4) == heartbeat
    (found,) = kafka_records.read_batches(batch)
    assert list(found.records()) == records

check()
"""
IS_NATIVE = """
import kafka_messages_native._columns as columns
assert columns.crc32c(b"123456789") == 0xE3069283 and columns.plan(MetadataResponse._plan, True)
assert kafka_messages.implementation() == "native" and type(MetadataResponse._maker).__name__ == "Maker"
assert MetadataResponse._native.declined == HeartbeatRequest._native.declined == 0
"""
IN_TWO = """
def work(own, others):
    meet = f"os.write({others}, b'.')\\nassert os.read({own}, 1)\\n"  # both have imported the core
    run(f"{WORK}\\n{meet}\\nfor _ in range(300): check()\\n{IS_NATIVE}")

(one, to_one), (two, to_two) = os.pipe(), os.pipe()
threads = [threading.Thread(target=work, args=ends) for ends in ((one, to_two), (two, to_one))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
KEPT = """
import atexit
cycle = MetadataResponse.read(metadata.write(12), 12)
cycle.topics[0].name = cycle
MetadataResponse.last = cycle
sys.kept = [MetadataResponse.read, heartbeat, batch]
atexit.register(check)
class Last:
    def __del__(self):
        HeartbeatRequest.read(HeartbeatRequest(group_id="g").write(4), 4)
sys.last = Last()
"""
GROWTH = """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

for _ in range(20): run(WORK)
before = resident()
for _ in range(COUNT): run(WORK)
print((resident() - before) // COUNT)
"""
PYARROW = """
#include <Python.h>
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "lib", .m_slots = slots};
PyMODINIT_FUNC PyInit_lib(void) { return PyModuleDef_Init(&definition); }
"""
"""An extension that, like pyarrow.lib, does not declare support of interpreters with a lock of their own."""


def started(python: str, program: str, *folders: str, **environment: str) -> str:
    own = {**os.environ, "PYTHONPATH": os.pathsep.join((*folders, *FOLDERS)), **environment}
    command = [python, "-c", INTERPRETERS + program]
    done = subprocess.run(command, env=own, capture_output=True, text=True, timeout=1200, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module", params=NEWER, ids=str)
def newer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Script:
    """Return a function that runs a program in another Python with the core and returns its output."""
    python: Interpreter = request.param
    core = str(build(tmp_path_factory.mktemp("core"), "cc", python=python.path))
    return lambda program, *folders, **environment: started(python.path, program, core, *folders, **environment)


@needs_compiler
def test_two_interpreters_read_natively_at_the_same_time(newer: Script) -> None:
    given = f"WORK, IS_NATIVE = {WORK!r}, {IS_NATIVE!r}"
    assert newer(f"{given}\n{WORK}\n{IN_TWO}\ncheck()\n{IS_NATIVE}\nprint('done')") == "done\n"


@needs_compiler
def test_interpreter_that_shares_the_lock_reads_natively(newer: Script) -> None:
    assert newer(f"{WORK}\nrun({WORK + IS_NATIVE!r}, 'legacy')\ncheck()\n{IS_NATIVE}\nprint('done')") == "done\n"


@needs_compiler
def test_interpreter_ends_with_live_messages(newer: Script) -> None:
    assert newer(f"for _ in range(3): run({WORK + IS_NATIVE + KEPT!r})\nprint('done')") == "done\n"


@needs_compiler
@pytest.mark.nightly
def test_thousand_interpreters_do_not_leak_the_core(newer: Script) -> None:
    """The growth of the pure code is subtracted, because CPython 3.12 and 3.13 lose memory of each interpreter."""

    def growth(count: int, work: str, **environment: str) -> int:
        program = f"COUNT, WORK = {count}, {work!r}\n{GROWTH}"
        return int(newer(program, PYTHONMALLOC="malloc", **environment))

    pure = growth(100, WORK, KAFKA_MESSAGES_NATIVE="0")
    assert growth(1000, WORK + IS_NATIVE) - pure < 16_000


@needs_compiler
def test_arrow_reports_that_pyarrow_does_not_load(newer: Script, tmp_path: Path) -> None:
    (tmp_path / "pyarrow").mkdir()
    (tmp_path / "pyarrow" / "__init__.py").write_text("from . import lib\n")
    (tmp_path / "lib.c").write_text(PYARROW)
    asked = newer("import sysconfig; print(sysconfig.get_paths()['include'])").strip()
    library = ("-o", str(tmp_path / "pyarrow" / "lib.so"))
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{asked}", str(tmp_path / "lib.c"), *library], check=True)
    code = "try:\n import kafka_messages.arrow\nexcept ImportError as error:\n print(error, flush=True)"
    printed = newer(f"for _ in range(2): run({code!r})", str(tmp_path))
    assert printed == "module pyarrow.lib does not support loading in subinterpreters\n" * 2


def test_running_python_uses_the_core_in_subinterpreters_since_312() -> None:
    pytest.importorskip("_testcapi")
    code = f"{WORK}\nfrom kafka_messages._core import native\nprint(native.implementation(), native.reason)"
    text = f"""
import _testcapi
from kafka_messages import HeartbeatRequest
assert _testcapi.run_in_subinterp({code!r}) == 0
assert type(HeartbeatRequest.read).__name__ == "Reader"
"""
    declined = "pure the native core requires CPython 3.12 or newer in subinterpreters\n"
    assert script(text) == (declined if sys.version_info < (3, 12) else "native \n")
