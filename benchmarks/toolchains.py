"""Builds of the workers in ``languages/``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().with_name("languages")
BUILD_SECONDS = 1800


@dataclass(frozen=True)
class Language:
    """Codec in another language.

    ``make`` builds a worker in a folder and returns its command. ``commands`` are required; ``toolchain`` prints the
    compiler's version. ``warm_up`` is in seconds per operation.
    """

    name: str
    commands: Sequence[str]
    toolchain: Sequence[str]
    make: Callable[[Path], list[str]]
    warm_up: float = 0
    variables: dict[str, str] = field(default_factory=dict)

    def missing(self) -> list[str]:
        return [command for command in self.commands if shutil.which(command) is None]

    def toolchain_version(self) -> str:
        return run(*self.toolchain).partition("\n")[0]


def run(*command: str, folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        output = (done.stdout + done.stderr).strip()
        raise SystemExit(f"{' '.join(command)} failed, status {done.returncode}; see --languages\n{output}")
    return done.stdout


def _java(folder: Path) -> list[str]:
    jars, classes = folder / "jars", folder / "classes"
    path = os.pathsep.join((str(classes), f"{jars}{os.sep}*"))
    maven = ("mvn", "-q", "-B", "-f", str(SOURCES / "java" / "pom.xml"))
    run(*maven, "dependency:copy-dependencies", f"-DoutputDirectory={jars}")
    run("javac", "-d", str(classes), "-cp", path, str(SOURCES / "java" / "Worker.java"))
    # One collector thread and a preallocated heap with a large young generation take the least CPU time.
    heap = ("-XX:+UseSerialGC", "-Xms1g", "-Xmx1g", "-Xmn768m", "-XX:+AlwaysPreTouch")
    return ["java", *heap, "-cp", path, "Worker"]


def _go(folder: Path) -> list[str]:
    program = folder / "worker"
    run("go", "build", "-o", str(program), ".", folder=SOURCES / "go")
    return [str(program)]


def _rust(folder: Path) -> list[str]:
    options = ("--quiet", "--release", "--locked", "--target-dir", str(folder))
    run("cargo", "build", *options, folder=SOURCES / "rust")
    return [str(folder / "release" / "kafka-codec-benchmark")]


_ALL = (
    Language("java", ("java", "javac", "mvn"), ("java", "--version"), _java, warm_up=2),
    # With one processor, the collector's idle workers take no CPU time.
    Language("go", ("go",), ("go", "version"), _go, variables={"GOMAXPROCS": "1"}),
    Language("rust", ("cargo",), ("cargo", "--version"), _rust),
)
LANGUAGES = {language.name: language for language in _ALL}


def make(language: Language, work: Path) -> list[str]:
    folder = work.absolute() / "languages" / language.name
    folder.mkdir(parents=True, exist_ok=True)
    print(f"building the {language.name} worker", file=sys.stderr)
    return language.make(folder)
