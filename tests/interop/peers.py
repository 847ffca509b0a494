"""Clients of other makers, each a program that does the same with a broker: see talk.py."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .kafka import HERE, Java, bounded
from .make import WORK

CLIENT_SECONDS = 240
BUILD_SECONDS = 600
RECORDS = 200
PLAIN_AND_COMPRESSED = ("none", "gzip", "snappy", "lz4", "zstd")
PYTHON = ("librdkafka", "kafka-python", "aiokafka")
NAMES = ("java", "franz-go", *PYTHON)


@dataclass(frozen=True)
class Talk:
    """What a client said that it saw."""

    topics: list[str]
    records: dict[str, list[list[object]]]
    committed: dict[str, int]


@dataclass(frozen=True)
class Peer:
    """A client; ``command`` is how its program is started."""

    name: str
    command: Sequence[str]

    def talk(self, port: int, prefix: str, codecs: Sequence[str]) -> Talk:
        """Has it write a topic for each codec, read them in a group, commit and list. Raises InteropError."""
        return Talk(**json.loads(self._run("talk", port, prefix, codecs).splitlines()[-1]))

    def write(self, port: int, prefix: str, codecs: Sequence[str]) -> None:
        """Has it do the first of these alone. Raises InteropError."""
        self._run("write", port, prefix, codecs)

    def _run(self, what: str, port: int, prefix: str, codecs: Sequence[str]) -> str:
        arguments = (what, f"127.0.0.1:{port}", prefix, str(RECORDS), *codecs)
        return bounded([*self.command, *arguments], CLIENT_SECONDS)


def missing(name: str) -> str | None:
    """The command that a client needs and this machine lacks."""
    return "go" if name == "franz-go" and shutil.which("go") is None else None


def peer(name: str, work: Path = WORK) -> Peer:
    """A client, built below ``work`` where it has to be. Raises InteropError."""
    makes: dict[str, Callable[[], Sequence[str]]] = {
        "java": lambda: Java.prepare(work).command("Talk"),
        "franz-go": lambda: _go(work / "talk"),
    }
    return Peer(name, makes[name]() if name in makes else (sys.executable, "-m", "tests.interop.talk", name))


def _go(program: Path) -> Sequence[str]:
    bounded(["go", "build", "-C", str(HERE / "go"), "-o", str(program.resolve()), "."], BUILD_SECONDS)
    return [str(program.resolve())]


def expected(prefix: str, codecs: Sequence[str]) -> dict[str, list[list[object]]]:
    """The records that a client reads, by topic."""
    rows: list[list[object]] = [[each, f"key-{each}", f"value {each} " * 5] for each in range(RECORDS)]
    return {f"{prefix}-{codec}": rows for codec in codecs}
