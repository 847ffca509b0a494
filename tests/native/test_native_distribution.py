"""The native distribution without a compiler, and the Python versions it is built for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_protocol_upstream.publish import interpreters
from tests.support.pages import ROOT

PYPY = "import platform\nplatform.python_implementation = lambda: 'PyPy'\n"
ON_PYPY = "import sys\nsys.implementation.name = 'pypy'\n"
FREE_THREADED = """
import sysconfig
found = sysconfig.get_config_var
sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else found(name)
"""
ON_FREE_THREADED = "import sys\nsys.version = sys.version.replace(' ', ' free-threading build ', 1)\n"
BUILD = """
import sys
sys.argv = ["setup.py", "--quiet", "bdist_wheel", "--dist-dir", "made"]
exec(compile(open("setup.py").read(), "setup.py", "exec"))
"""
ASK = """
import sys
sys.path[:0] = sys.argv[1:]
import kafka_messages
assert kafka_messages.implementation() == "pure"
try:
    import kafka_messages_native
except ImportError as error:
    print(error)
"""
LOADED = """
import sys
sys.path[:0] = sys.argv[1:]
import functools, warnings, kafka_messages._core.structs, kafka_messages._core.wire
before = set(sys.modules)
from kafka_messages._core import native
print(sorted(set(sys.modules) - before - {"kafka_messages._core.native"}))
import kafka_messages, kafka_records
from kafka_records import _native
print(kafka_messages.HeartbeatRequest(group_id="g").write(4).hex(), native.implementation(), _native.core)
print(native.reason)
"""
UNLINKED = "extern int missing_symbol(void); int PyInit__core(void) { return missing_symbol(); }\n"
VERSION = sys.version.split()[0]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
needs_compiler = pytest.mark.skipif(os.name == "nt" or not shutil.which("cc"), reason="needs a C compiler: cc")


NOT_BUILT = (
    f"kafka-messages-native was not built for this Python, CPython {VERSION}; "
    "install a C compiler, then reinstall this distribution with --force-reinstall --no-cache-dir\n"
)


def run(folder: Path, script: str, *arguments: str, **environment: str) -> str:
    done = completed(folder, script, *arguments, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def completed(folder: Path, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    own = os.environ | environment
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("build", "*.egg-info", "*.so", "__pycache__")
    return Path(shutil.copytree(ROOT / "packages" / "native", tmp_path / "native", ignore=ignored))


@pytest.mark.parametrize(
    ("building", "running", "this"),
    [(PYPY, ON_PYPY, f"PyPy {VERSION}"), (FREE_THREADED, ON_FREE_THREADED, f"a free-threaded CPython {VERSION}")],
    ids=["PyPy", "free-threaded"],
)
def test_unsupported_interpreter_builds_wheel_without_core(
    project: Path, building: str, running: str, this: str
) -> None:
    pytest.importorskip("setuptools", minversion="77")
    run(project, building + BUILD)
    (wheel,) = (project / "made").iterdir()
    assert not wheel.name.endswith("-none-any.whl")
    with ZipFile(wheel) as made:
        assert not [name for name in made.namelist() if name.endswith((".so", ".pyd", ".c", ".h"))]
    printed = run(project, running + ASK, str(wheel), str(ROOT / "generated" / "src"))
    assert printed == (f"the core requires CPython with the global interpreter lock; this is {this}\n")


def test_core_built_for_another_python_is_reported(project: Path) -> None:
    assert run(project, ASK, str(project / "src"), str(ROOT / "generated" / "src")) == NOT_BUILT


def loaded(project: Path) -> tuple[str, str]:
    """Return the modules that the search for an unusable core imports, and the reason; all warnings are errors."""
    paths = [ROOT / "packages" / "records" / "src", ROOT / "generated" / "src"]
    done = completed(project, LOADED, str(project / "src"), *map(str, paths), PYTHONWARNINGS="error")
    assert (done.returncode, done.stderr) == (0, "")
    modules, used, reason = done.stdout.splitlines()
    assert used == "026700000000010000 pure None"
    return modules, reason


@pytest.mark.parametrize("name", ["", "_core.cpython-310-x86_64-linux-gnu.so", "_core.cp399-win_amd64.pyd"])
def test_missing_extension_selects_pure_code_without_warning_or_slow_imports(project: Path, name: str) -> None:
    if name:
        (project / "src" / "kafka_messages_native" / name).write_bytes(b"")
    assert loaded(project) == ("['kafka_messages_native._absent']", NOT_BUILT.strip())


def test_file_that_is_no_extension_selects_pure_code_without_warning(project: Path) -> None:
    path = project / "src" / "kafka_messages_native" / f"_core{SUFFIX}"
    path.write_bytes(b"\x7fELF" + bytes(200))
    modules, reason = loaded(project)
    assert modules == "[]"
    assert str(path) in reason


@needs_compiler
def test_extension_with_undefined_symbol_selects_pure_code_without_warning(project: Path) -> None:
    (project / "unlinked.c").write_text(UNLINKED, encoding="utf-8")
    path = project / "src" / "kafka_messages_native" / f"_core{SUFFIX}"
    command = ["cc", "-shared", "-fPIC", "-Wl,-z,now", "-o", str(path), str(project / "unlinked.c")]
    subprocess.run(command, check=True, timeout=120)
    assert loaded(project) == ("[]", f"{path}: undefined symbol: missing_symbol")


def test_missing_compiler_builds_wheel_without_core(project: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    run(project, BUILD, CC="/nowhere/cc")
    (wheel,) = (project / "made").iterdir()
    assert not wheel.name.endswith("-none-any.whl")
    with ZipFile(wheel) as made:
        assert not [name for name in made.namelist() if name.endswith((".so", ".pyd"))]
    assert run(project, ASK, str(wheel), str(ROOT / "generated" / "src")) == NOT_BUILT


@needs_compiler
def test_compile_error_fails_the_build(project: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    with (project / "src" / "core" / "calls.c").open("a", encoding="utf-8") as source:
        source.write("#error this is broken\n")
    done = completed(project, BUILD, CC="cc")
    assert done.returncode == 1
    assert "this is broken" in done.stderr
    assert not (project / "made").exists()


def test_supported_interpreters_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, answer in {
        "path/python3.12": '["/usr/bin/python3.12", 3, 12, 4, true]',
        "path/python3.13": "",  # a shim of pyenv
        "pyenv/versions/3.10.13/bin/python": '["/3.10", 3, 10, 13, true]',
        "pyenv/versions/3.12.1/bin/python": '["/3.12.1", 3, 12, 1, true]',
        "pyenv/versions/3.14.0/bin/python": '["/3.14", 3, 14, 0, true]',
        "pyenv/versions/3.15.0t/bin/python": '["/3.15t", 3, 15, 0, false]',
    }.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{answer}'\n" if answer else "#!/bin/sh\nexit 127\n", encoding="utf-8")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "path" / "python3.12"))
    found = [(str(each), each.path, each.tag) for each in interpreters.interpreters()]
    assert found == [
        ("CPython 3.12.4", "/usr/bin/python3.12", "cp312"),
        ("CPython 3.14.0", "/3.14", "cp314"),
    ]
