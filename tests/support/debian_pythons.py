"""Debian's CPython 3.13 to 3.15, unpacked into .work: installations without a compiler, and the tests of the core.

A program for ``nox -s nightly -- pythons``. It needs Debian, patchelf and a C compiler, and installs nothing on the machine:
the packages of other suites, the C library included, are unpacked into a folder. Delete ``.work/debian`` to update them.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_protocol_upstream.publish.interpreters import interpreters
from kafka_protocol_upstream.publish.native import Failed, run
from kafka_protocol_upstream.publish.trials import Environment, same

ROOT = Path(__file__).parents[2]
SUITES: dict[str, tuple[str, ...]] = {"trixie": ("3.13",), "sid": ("3.14", "3.15")}
# Unpacks packages of a suite with their dependencies. Each Python then starts with the C library beside it, and finds
# pyconfig.h. The address of Debian's archive is that of the machine.
UNPACK = """
folder=$1 suite=$2
shift 2
mkdir -p "$folder/lists/partial" "$folder/archives/partial" "$folder/unpacked"
cd "$folder"
source='deb $(REPO_URI) '"$suite main"
apt-get indextargets --format "$source" 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u >sources.list
test -s sources.list || { echo 'apt knows no source of Debian; run apt-get update first' >&2; exit 1; }
get() {
    apt-get -y -o "Dir::State=$folder" -o Dir::State::status=/dev/null -o "Dir::Cache=$folder" \\
        -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=- "$@"
}
get update
get install --no-install-recommends --download-only "$@"
for package in archives/*.deb; do dpkg --extract $package unpacked; done
triplet=$(uname -m)-linux-gnu
for python in unpacked/usr/bin/python3.??; do
    patchelf --set-interpreter "$folder/root/usr$(patchelf --print-interpreter $python)" $python
    patchelf --force-rpath --set-rpath "$folder/root/usr/lib/$triplet" $python
    ln -sfn ../$triplet unpacked/usr/include/${python##*/}/$triplet
done
mv unpacked root
"""
USE = """
import sys, kafka_messages, kafka_messages_tools.command
from kafka_records import Record, read_batches, write_batch
print(kafka_messages.implementation(), end=" ")
for codec in ("gzip", "snappy", "lz4", "zstd"):
    (batch,) = read_batches(write_batch([Record(value=b"paid" * 99)], compression=codec))
    print(*[batch.compression for record in batch.records() if record.value == b"paid" * 99], end=" ")
print("zstandard" in sys.modules)
"""
LIBC = "import platform, sys; print('CPython', sys.version.split()[0], *platform.libc_ver())"
PROJECTS = {"generated": "[arrow]", "packages/records": "[arrow,compression]", "packages/tools": "", "generator": ""}
GROUPS = ("tests", "arrow", "frames")
TESTS = ("-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-m", "not nightly", "-p", "no:cacheprovider")


def debian(suite: str, versions: Sequence[str]) -> Iterator[str]:
    """Yield the paths of a suite's Pythons. Raises Failed."""
    folder = ROOT / ".work" / "debian" / suite
    if not (folder / "root").is_dir():
        packages = [name for version in versions for name in (f"python{version}", f"libpython{version}-dev")]
        run("sh", "-euc", UNPACK, "sh", str(folder), suite, "libstdc++6", *packages)
    yield from (str(folder / "root" / "usr" / "bin" / f"python{version}") for version in versions)


def wheels(work: Path) -> list[str]:
    """Build the wheels that need no compiler, and return them with their extras. Raises Failed."""
    found = []
    for project, extras in PROJECTS.items():
        folder = work / "wheels" / project
        run(sys.executable, "-m", "build", "--installer", "uv", "--wheel", "--outdir", str(folder), str(ROOT / project))
        found += [f"{path}{extras}" for path in folder.iterdir()]
    return found


def use(environment: Environment, packages: Sequence[str]) -> str:
    """Install the packages without a compiler and use them; return the version. Raises Failed."""
    environment.install("--only-binary=:all:", *packages)
    has_zstandard = environment.run_script("import sys; print(sys.version_info < (3, 14))")
    version = environment.run_script(LIBC).strip()
    same(f"{version} without the core", environment.run_script(USE), f"pure gzip snappy lz4 zstd {has_zstandard}")
    return version


def test(environment: Environment) -> Iterator[str]:
    """Build the core, and yield the results of its proof and of its tests. Raises Failed."""
    native = ROOT / "packages" / "native"
    environment.install(str(native), *(f"--group={ROOT / 'pyproject.toml'}:{name}" for name in GROUPS))
    settings = tomllib.loads((native / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
    for arguments in (
        shlex.split(settings["test-command"])[1:],
        [*TESTS, "tests/native", "tests/records/test_zstd.py"],
    ):
        output = run(environment.python, *arguments, folder=ROOT, variables={"TESTS_NATIVE": "1"})
        yield output.splitlines()[-1]


def main(versions: Sequence[str]) -> int:
    """Run everything, or only the named versions of Debian; return an exit status."""
    every = [version for suite in SUITES.values() for version in suite]
    if unknown := set(versions) - set(every):
        print(f"expected versions among {', '.join(every)}, got {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        try:
            packages = wheels(work)
            for interpreter in () if versions else interpreters():
                print(use(Environment(work / interpreter.tag, interpreter.path), packages), "without a compiler: works")
            for suite, available in SUITES.items():
                for path in debian(suite, available):
                    if versions and not path.endswith(tuple(versions)):
                        continue
                    environment = Environment(work / suite / Path(path).name, path)
                    version = use(environment, packages)
                    print(version, "without a compiler: works", flush=True)
                    for line in test(environment):
                        print(f"{version}: {line}", flush=True)
        except Failed as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
