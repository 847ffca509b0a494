"""Runs Java programs that call Kafka's classes, and reads their answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka_protocol_upstream.kafka.artifacts import FOLDERS, Jars
from kafka_protocol_upstream.vectors.definitions import VectorDefinition
from kafka_protocol_upstream.vectors.samples import Json

SOURCES = Path(__file__).parent / "java"
ERRORS = Path(__file__).parent / "java_errors"
COMPILE_SECONDS = 120
ANSWER_SECONDS = 600


class OracleError(Exception):
    """Raised if Java is missing or fails, or if an answer is invalid."""


@dataclass(frozen=True)
class Question:
    """A message to encode: Java class, JSON converter if there is one, version, and JSON (None: a new object).

    With the JSON of a ``header``, the message is encoded as a whole frame.
    """

    java_class: str
    converter: str | None
    version: int
    json: Json
    header: Json = None

    def line(self) -> str:
        question: dict[str, Json] = {"class": self.java_class, "converter": self.converter, "version": self.version}
        if self.json is not None:
            question["json"] = self.json
        if self.header is not None:
            question["header"] = self.header
        return json.dumps(question)


@dataclass(frozen=True)
class Answer:
    """An encoding by Kafka as hex, with the JSON read back from it; or an error.

    ``wrong_size`` is the size that Kafka's class computes, if it differs from the number of bytes written.
    """

    hex: str
    json: Json
    error: str | None
    wrong_size: int | None


@dataclass(frozen=True)
class Oracle:
    classpath: str

    def encode(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the answers in the order of the questions. Raises OracleError if Java stops early."""
        return [_answer(line) for line in self.encode_raw(questions)]

    def encode_raw(self, questions: Sequence[Question]) -> list[dict[str, Json]]:
        """Return the answers as Java printed them. Raises OracleError if Java stops early."""
        lines = self._run("samples", "".join(question.line() + "\n" for question in questions))
        if len(lines) != len(questions):
            raise OracleError(f"Java returned {len(lines)} answers to {len(questions)} questions")
        return lines

    def read(self, questions: Sequence[tuple[str, int, str]]) -> list[str]:
        """Return ``refused``, ``accepted`` or ``rest`` (bytes left unread) for each class, version and hex text."""
        inputs = (json.dumps({"class": name, "version": version, "hex": data}) for name, version, data in questions)
        lines = self._run("read", "".join(line + "\n" for line in inputs))
        if len(lines) != len(questions):
            raise OracleError(f"Java returned {len(lines)} answers to {len(questions)} questions")
        return ["refused" if "error" in line else "rest" if line["left"] else "accepted" for line in lines]

    def apis(self) -> list[dict[str, Json]]:
        """Return Kafka's APIs: name, id, versions, header versions, listeners."""
        return self.table("apis")

    def table(self, name: str) -> list[dict[str, Json]]:
        """Return the lines of ``apis``, ``batches`` or ``negotiation``."""
        return self._run(name, "")

    def _run(self, mode: str, stdin: str) -> list[dict[str, Json]]:
        command = ["java", "-Xmx1g", "-cp", self.classpath, "Oracle", mode]
        printed = call(command, ANSWER_SECONDS, stdin)
        return [json.loads(line) for line in printed.split("\n") if line]


@contextmanager
def oracle(jars: Jars) -> Iterator[Oracle]:
    """Compile the Java program against ``jars``. Raises OracleError."""
    with compiled(SOURCES, jars) as classpath:
        yield Oracle(classpath)


def error_codes(jars: Jars) -> list[dict[str, Json]]:
    """Return Kafka's error codes: name, code, whether retriable, whether metadata is stale. Raises OracleError."""
    with compiled(ERRORS, jars) as classpath:
        printed = call(["java", "-Xmx1g", "-cp", classpath, "ErrorCodes"], ANSWER_SECONDS, "")
    return [json.loads(line) for line in printed.splitlines() if line]


@contextmanager
def older_oracle(pinned: Jars, jars: Jars) -> Iterator[Oracle]:
    """Yield the Java program for the jars of an older release.

    The program is compiled against the pinned release, and uses the third-party libraries of that release.
    """
    kafkas = set(pinned.versions.values())
    libraries = [
        jar for jar in pinned.classpath if not (jar.name.startswith("kafka") and jar.stem.rsplit("-")[-1] in kafkas)
    ]
    with compiled(SOURCES, pinned) as classpath:
        ours = classpath.split(os.pathsep)[0]
        yield Oracle(os.pathsep.join([ours, *(str(jar.resolve()) for jar in (*jars.classpath, *libraries))]))


@contextmanager
def compiled(sources: Path, jars: Jars) -> Iterator[str]:
    """Compile the Java files of a folder against ``jars`` and yield the class path. Raises OracleError."""
    if shutil.which("javac") is None or shutil.which("java") is None:
        raise OracleError("a JDK of version 17 or later is required (the commands java and javac); install one")
    with tempfile.TemporaryDirectory() as folder:
        classpath = os.pathsep.join([folder, *(str(jar.resolve()) for jar in jars.classpath)])
        files = [str(path) for path in sorted(sources.glob("*.java"))]
        call(["javac", "-encoding", "UTF-8", "-cp", classpath, "-d", folder, *files], COMPILE_SECONDS, "")
        yield classpath


class JavaClasses:
    """Finds Kafka's classes by their simple names."""

    def __init__(self, jars: Jars) -> None:
        self._jars = {folder: jars.jar(name) for name, folder in FOLDERS.items() if name in jars.versions}
        self._names: dict[str, dict[str, list[str]]] = {}

    def question(self, definition: VectorDefinition, version: int, sample: Json) -> Question:
        """Return the question for a sample. Raises OracleError unless there is exactly one class."""
        found = self._found(definition.folder, definition.java_class)
        if len(found) != 1:
            raise OracleError(
                f"{definition.file}: expected one class {definition.java_class}, found {', '.join(found) or 'none'}"
            )
        converters = self._found(definition.folder, f"{definition.java_class}JsonConverter")
        # The converter must be in the same package as the class.
        converter = f"{found[0]}JsonConverter"
        return Question(found[0], converter if converter in converters else None, version, sample)

    def _found(self, folder: str, simple: str) -> list[str]:
        if folder not in self._jars:
            raise OracleError(f"definitions in {folder}: no jar for this folder; see FOLDERS in kafka/artifacts.py")
        if folder not in self._names:
            self._names[folder] = _class_names(self._jars[folder])
        return self._names[folder].get(simple, [])


def _class_names(jar: Path) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    with zipfile.ZipFile(jar) as entries:
        for entry in sorted(entries.namelist()):
            if entry.endswith(".class"):
                full = entry.removesuffix(".class").replace("/", ".")
                names.setdefault(full.rsplit(".", 1)[-1], []).append(full)
    return names


def _answer(line: dict[str, Json]) -> Answer:
    error, encoded, size = line.get("error"), line.get("hex", ""), line.get("size")
    if not isinstance(encoded, str) or not (error is None or isinstance(error, str)):
        raise OracleError(f"invalid answer from Java: {line}")
    return Answer(encoded, line.get("json"), error, size if isinstance(size, int) else None)


def call(command: list[str], seconds: int, stdin: str) -> str:
    """Run a program with standard input and return its output. Raises OracleError if it fails or times out."""
    name = command[0]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise OracleError(f"{name} did not finish within {seconds:g} s") from error
    if done.returncode != 0:
        raise OracleError(f"{name} failed with exit code {done.returncode}:\n{(done.stderr or done.stdout).strip()}")
    return done.stdout
