"""Third-party clients: programs that do the same work; see talk.py."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .kafka import HERE, Java, bounded, built_go
from .make import WORK

CLIENT_SECONDS = 240
RECORDS = 200
PLAIN_AND_COMPRESSED = ("none", "gzip", "snappy", "lz4", "zstd")
PYTHON = ("librdkafka", "kafka-python", "aiokafka")
NAMES = ("java", "franz-go", *PYTHON)


@dataclass(frozen=True)
class Talk:
    """Topics, records and offsets that a client reports."""

    topics: list[str]
    records: dict[str, list[list[object]]]
    committed: dict[str, int]


@dataclass(frozen=True)
class Peer:
    """A third-party client; ``command`` starts its program."""

    name: str
    command: Sequence[str]

    def talk(self, port: int, prefix: str, codecs: Sequence[str]) -> Talk:
        """Write a topic for each codec, read the topics in a group, commit and list topics. Raises InteropError."""
        return Talk(**json.loads(self._run("talk", port, prefix, codecs).splitlines()[-1]))

    def write(self, port: int, prefix: str, codecs: Sequence[str]) -> None:
        """Write a topic for each codec. Raise InteropError."""
        self._run("write", port, prefix, codecs)

    def _run(self, what: str, port: int, prefix: str, codecs: Sequence[str]) -> str:
        arguments = (what, f"127.0.0.1:{port}", prefix, str(RECORDS), *codecs)
        return bounded([*self.command, *arguments], CLIENT_SECONDS)


def missing(name: str) -> str | None:
    """Return a command that the client needs and that is not installed, or None."""
    return "go" if name == "franz-go" and shutil.which("go") is None else None


def peer(name: str, work: Path = WORK) -> Peer:
    """Return a client, built below ``work`` if necessary. Raise InteropError."""
    makes: dict[str, Callable[[], Sequence[str]]] = {
        "java": lambda: Java.prepare(work).command("Talk"),
        "franz-go": lambda: (built_go(HERE / "go", work / "talk"),),
    }
    return Peer(name, makes[name]() if name in makes else (sys.executable, "-m", "tests.interop.talk", name))


def expected(prefix: str, codecs: Sequence[str]) -> dict[str, list[list[object]]]:
    """Return the expected records by topic."""
    rows: list[list[object]] = [[each, f"key-{each}", f"value {each} " * 5] for each in range(RECORDS)]
    return {f"{prefix}-{codec}": rows for codec in codecs}
