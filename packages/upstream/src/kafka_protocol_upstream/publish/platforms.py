"""Wheels of the native core for other platforms, compiled by zig on Debian; qemu runs those of another processor."""

from __future__ import annotations

import platform
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZipFile

from kafka_protocol_upstream.publish.interpreters import Interpreter, interpreters
from kafka_protocol_upstream.publish.native import Failed, run, wheel_command
from kafka_protocol_upstream.publish.wheels import PROJECTS, ROOT

DRIVER = ROOT / "tests" / "fuzz" / "library.c"
SEEDS = "import pathlib, sys; from tests.fuzz import library; library.environment(pathlib.Path(sys.argv[1]))"
TAGS = {  # of wheels, by zig's name of the platform
    "x86_64-linux-gnu.2.17": "manylinux_2_17_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux_2_17_aarch64",
    "x86_64-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-linux-musl": "musllinux_1_2_aarch64",
}
OTHERS = ("x86_64-windows-gnu", "x86_64-macos", "aarch64-macos")  # only the C library
# Unpacks Debian's Python for a processor, its headers, and a library that pyarrow needs; installs nothing.
DEBIAN = """
mkdir -p "$2/lists/partial" "$2/archives/partial"
cd "$2"
set -- -y -o APT::Architecture=$1 -o APT::Architectures=$1 -o "Dir::State=$2" -o "Dir::Cache=$2"
apt-get "$@" update
apt-get "$@" -o Dir::State::status=/dev/null install --no-install-recommends --download-only python3 libpython3-dev libstdc++6
for package in archives/*.deb; do dpkg --extract $package unpacked; done
mv unpacked root
"""


def build(folder: Path) -> Iterator[Path]:
    """Yield wheels from the source distribution: for each CPython, or Debian's of another processor. Raises Failed."""
    source = next(folder.glob("kafka_messages_native-*.tar.gz")).resolve()
    for target, tag in TAGS.items():
        headers = debian(_machine(target)) / "usr" / "include" if _machine(target) != platform.machine() else None
        for interpreter in interpreters():
            own = headers and headers / f"python3.{interpreter.version[1]}"
            if own is None or own.is_dir():
                options = () if own is None else (f"-I{own}", "-idirafter", str(headers))
                yield _wheel(target, tag, interpreter, source, folder, *options)


def _wheel(target: str, tag: str, interpreter: Interpreter, source: Path, folder: Path, *options: str) -> Path:
    machine, compiler = _machine(target), shlex.join(_compiler(target, *options))
    variables = {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared -s",
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{interpreter.tag[2:]}-{target.partition('.')[0]}.so",
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
    }
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        run(*wheel_command(interpreter), "--wheel-dir", name, str(source), variables=variables)
        if "musl" in tag:
            named = f"patchelf --replace-needed libc.so libc.musl-{machine}.so.1 */*/*.so"  # Alpine's name of musl
            run("sh", "-euc", f"wheel unpack *.whl; {named}; wheel pack */", folder=work)
        built = str(next(work.glob("*.whl")))
        run("auditwheel", "repair", "--plat", "auto", "--wheel-dir", "out", built, folder=work)
        (wheel,) = (work / "out").iterdir()
        if min(_versions(wheel.stem), default=(99,)) > min(_versions(tag)):  # it may need an older library only
            raise Failed(f"auditwheel named the wheel {wheel.name}, expected {tag}")
        columns = ZipFile(wheel).extract("kafka_messages_native/_columns.abi3.so", name)
        run("abi3audit", "--strict", "--assume-minimum-abi3", "3.11", columns)
        return wheel.replace(folder / wheel.name)


def _versions(tags: str) -> list[tuple[int, ...]]:
    """Return the versions of the C library in platform tags."""
    return [(int(major), int(minor)) for major, minor in re.findall(r"linux_(\d+)_(\d+)_", tags)]


def debian(machine: str) -> Path:
    """Return a folder with Debian's Python for another processor. Raises Failed."""
    work = ROOT / ".work" / "debian" / machine
    if not (work / "root").is_dir():
        run("sh", "-euc", DEBIAN, "sh", machine.replace("aarch64", "arm64"), str(work))
    return work / "root"


def try_foreign(wheel: Path, machine: str, work: Path, test: Sequence[str], packages: Sequence[str]) -> str:
    """Return the output of a test with Debian's Python of another processor. Raises Failed."""
    minor, root = wheel.name.split("-")[2].replace("cp3", "3."), debian(machine)
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--target", str(work / machine))
    tags = (f"--platform=manylinux_2_{glibc}_{machine}" for glibc in (17, 28))
    run(*pip, "--python-version", minor, *tags, str(wheel), *packages)
    python = (f"qemu-{machine}", "-L", str(root), str(root / f"usr/bin/python{minor}"))
    return run(*python, *test, folder=ROOT, variables={"PYTHONPATH": str(work / machine)})


def try_library(work: Path) -> Iterator[str]:
    """Link the C library for each platform, and fuzz it with musl; yield a line for each. Raises Failed."""
    sources = sorted(map(str, PROJECTS["kafka_messages_native"].glob("src/library/*.c")))
    run(sys.executable, "-c", SEEDS, str(work), folder=ROOT)
    for target in (*TAGS, *OTHERS):
        output = "compiled and linked"
        run(*_compiler(target, "-shared", "-O2", "-Wall", "-Werror", "-o", str(work / target)), *sources)
        if "musl" in target:
            driver = str(work / f"{target}-driver")
            run(*_compiler(target, "-static", "-O2", "-DTHREADS", "-o", driver), *sources, str(DRIVER))
            emulator = () if _machine(target) == platform.machine() else (f"qemu-{_machine(target)}",)
            output = run(*emulator, driver, "100000", variables={"FUZZ_SEEDS": str(work / "library" / "seeds")})
        yield f"C library for {target}: {output.strip()}"


def _compiler(target: str, *options: str) -> list[str]:
    # -I, because pip hides installed packages from the programs that it starts.
    return [sys.executable, "-I", "-m", "ziglang", "cc", "-target", target, *options]


def _machine(target: str) -> str:
    return target.partition("-")[0]
