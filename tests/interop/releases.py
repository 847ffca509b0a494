"""Writes segments of older brokers, and the output of their consumers: ``python -m tests.interop.releases FOLDER``.

Kafka 2.8 with ZooKeeper, which still writes message formats 0 and 1, and 3.9 with KRaft, the last release before 4.0.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from . import broker, old
from .broker import Broker
from .kafka import COMPILE_SECONDS, HERE, Java, bounded
from .make import WORK

TRAFFIC_SECONDS = 300
KEPT = (".log", ".checkpoint", "-checkpoint")


@dataclass(frozen=True)
class Release:
    """An older release: function that starts its broker, and message formats of its topics."""

    name: str
    running: Callable[[Java, Path], AbstractContextManager[Broker]]
    formats: Sequence[str] = ()

    def prepare(self, work: Path) -> Java:
        """Download the release and compile the program that writes records with its clients."""
        libraries = Java.of(f"kafka-{self.name}", work).classpath
        classes = work / f"classes-older-{self.name}"
        bounded(
            ["javac", "-d", str(classes), "-cp", libraries, str(HERE / "java" / "old" / "Older.java")], COMPILE_SECONDS
        )
        return Java(os.pathsep.join([str(HERE / "java" / "old"), str(classes), libraries]))


RELEASES = (
    Release("2.8", old.running, ("0.9.0", "0.10.2")),
    Release("3.9", broker.running),
)


def make(release: Release, folder: Path, work: Path = WORK) -> None:
    """Write the broker's logs into ``folder``, and ``expected.json`` with the output of consumer and admin client."""
    java = release.prepare(work)
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as place, release.running(java, Path(place)) as one:
        printed = java.run("Older", one.bootstrap, *release.formats, seconds=TRAFFIC_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "expected.json").write_text(json.dumps(json.loads(printed)) + "\n", encoding="utf-8")
        with one.paused():
            _copy(one.logs, folder / "logs")


def _copy(source: Path, to: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.name.endswith(KEPT) and "epoch" not in path.name and path.stat().st_size:
            kept = to / path.relative_to(source)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.releases", description=__doc__)
    parser.add_argument("folder", type=Path, help="gets a folder for each release")
    parser.add_argument("--release", choices=[each.name for each in RELEASES], help="this one alone")
    options = parser.parse_args(argv)
    for release in RELEASES:
        if options.release in (None, release.name):
            make(release, options.folder / release.name)


if __name__ == "__main__":
    main()
