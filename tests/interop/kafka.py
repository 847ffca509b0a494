"""Kafka's released jars from Maven Central, and Java programs that use them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "specs" / "kafka" / "SOURCE"
MAVEN_SECONDS = 900
COMPILE_SECONDS = 120
BUILD_SECONDS = 600
LINES_SHOWN = 40


class InteropError(Exception):
    """Raised if Kafka cannot be downloaded, or if one of its programs or a broker fails."""


def release() -> str:
    """Return the pinned Kafka release."""
    pinned: str = json.loads(SOURCE.read_text(encoding="utf-8"))["release"]
    return pinned


def jars(name: str, folder: Path) -> tuple[Path, ...]:
    """Return the jars of ``<name>.pom.xml``, copied into ``folder`` once. Raise InteropError."""
    pom = HERE / f"{name}.pom.xml"
    for program in ("mvn", "javac"):
        if shutil.which(program) is None:
            raise InteropError(f"the command {program} is needed to run Kafka; install Maven and a JDK, 17 or later")
    folder = folder.resolve()  # Maven resolves relative paths from the pom
    complete = folder / "complete"
    wanted = f"{release()}\n{pom.read_text(encoding='utf-8')}"
    if not complete.is_file() or complete.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        options = ["-q", "-B", f"-Dkafka.version={release()}", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
        bounded(["mvn", "-f", str(pom), "dependency:copy-dependencies", *options], MAVEN_SECONDS)
        complete.write_text(wanted, encoding="utf-8")
    return tuple(sorted(folder.glob("*.jar")))


@dataclass(frozen=True)
class Java:
    """Runs Java with Kafka's classes and the compiled programs of ``java/``."""

    classpath: str

    @classmethod
    def of(cls, name: str, work: Path) -> Java:
        """Return an instance with the jars of ``<name>.pom.xml``, without the programs of ``java/``."""
        return cls(os.pathsep.join(map(str, jars(name, work / name))))

    @classmethod
    @cache
    def prepare(cls, work: Path) -> Java:
        """Download Kafka and compile the programs below ``work``, once per process."""
        folder = HERE / "java"
        made = cls.of("kafka", work).compiled(sorted(folder.glob("*.java")), work / "classes")
        return cls(os.pathsep.join([str(folder), made.classpath]))

    def compiled(self, sources: Sequence[Path], classes: Path) -> Java:
        """Return an instance that also has programs, compiled into the folder ``classes``. Raise InteropError."""
        options = ["-Xlint:all,-classfile", "-Werror", "-d", str(classes), "-cp", self.classpath]
        bounded(["javac", *options, *map(str, sources)], COMPILE_SECONDS)
        return Java(os.pathsep.join([str(classes), self.classpath]))

    def command(self, main: str, *arguments: str, heap: str = "256m") -> list[str]:
        return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-cp", self.classpath, main, *arguments]

    def run(self, main: str, *arguments: str, seconds: float) -> str:
        """Return the output of a program. Raise InteropError on failure or timeout."""
        return bounded(self.command(main, *arguments), seconds)


def bounded(command: Sequence[str], seconds: float) -> str:
    """Return the standard output of a command. Raise InteropError on failure or timeout."""
    name = next((part for part in command[1:] if not part.startswith("-") and os.sep not in part), command[0])
    try:
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise InteropError(
            f"{command[0]} {name} did not finish within {seconds:.0f} seconds:\n{last(error.stderr)}"
        ) from None
    if done.returncode != 0:
        raise InteropError(f"{command[0]} {name} exited with {done.returncode}:\n{last(done.stdout + done.stderr)}")
    return done.stdout


def built_go(folder: Path, program: Path) -> str:
    """Build the Go program in a folder and return its path. Raise InteropError."""
    if shutil.which("go") is None:
        raise InteropError("the command go is needed to build franz-go's program")
    bounded(["go", "build", "-C", str(folder), "-o", str(program.resolve()), "."], BUILD_SECONDS)
    return str(program.resolve())


def last(text: str | bytes | None) -> str:
    output = text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
    return "\n".join(output.strip().splitlines()[-LINES_SHOWN:])
