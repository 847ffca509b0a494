"""Makes a cluster's files and what Kafka's tools say of them: ``python -m tests.interop.make FOLDER``."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .broker import Broker, running
from .dump import dump, lines
from .kafka import ROOT, InteropError, Java, release
from .late import Late, hang

WORK = ROOT / ".work" / "interop"
"""Jars and classes, kept from one run to the next."""
TRAFFIC_SECONDS = 300
ANSWER_SECONDS = 120
ATTEMPTS = 5
SUFFIXES = (".log", ".checkpoint")


@dataclass(frozen=True)
class Live:
    """A broker after its traffic, and the folder with its files and answers."""

    broker: Broker
    late: Late
    folder: Path
    tools: Java

    def find_hanging(self) -> str:
        """The table that ``kafka-transactions find-hanging`` prints, of transactions of any age."""
        arguments = ("--bootstrap-server", self.broker.bootstrap, "find-hanging", "--broker-id", "1")
        tool = "org.apache.kafka.tools.TransactionsCommand"
        return self.tools.run(tool, *arguments, "--max-transaction-timeout", "0", seconds=ANSWER_SECONDS)


@contextmanager
def live(work: Path = WORK) -> Iterator[Live]:
    """A new cluster, its day's traffic behind it; it is gone after the block."""
    java = Java.prepare(work)
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as name, running(java, Path(name)) as broker:
        java.run("Traffic", broker.bootstrap, seconds=TRAFFIC_SECONDS)
        late = hang(broker.port, "pay-late", "payments", 1)
        folder = Path(name) / "capture"
        capture(broker, late, folder)
        yield Live(broker, late, folder, Java.of("tools", work))


def capture(broker: Broker, late: Late, folder: Path) -> None:
    """Puts into ``folder`` the segments and snapshots, and what Kafka's clients and tools say of that moment."""
    java = broker.java
    logs = folder / "logs"
    before = _admin(broker)
    for _ in range(ATTEMPTS):
        shutil.rmtree(logs, ignore_errors=True)
        with broker.paused():
            _copy(broker.logs, logs)
        if before == (before := _admin(broker)):
            break
    else:
        raise InteropError("the cluster does not come to rest: its answers change all the time")
    answers = {"release": release(), "late": asdict(late), **json.loads(before)}
    (folder / "answers.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    records = java.run("Answers", "records", broker.bootstrap, seconds=ANSWER_SECONDS)
    (folder / "records.jsonl").write_text(records, encoding="utf-8")
    (folder / "dump.jsonl").write_text(lines(dump(java, logs)), encoding="utf-8")


def _admin(broker: Broker) -> str:
    return broker.java.run("Answers", "admin", broker.bootstrap, seconds=ANSWER_SECONDS)


def _copy(source: Path, target: Path) -> None:
    for path in sorted(source.glob("*/*")):
        if path.suffix in SUFFIXES:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.make", description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="where logs/, answers.json, records.jsonl and dump.jsonl are replaced"
    )
    folder = parser.parse_args(argv).folder
    with live() as cluster:
        shutil.rmtree(folder / "logs", ignore_errors=True)
        shutil.copytree(cluster.folder, folder, dirs_exist_ok=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    print(f"{folder}: {len(files)} files, {sum(path.stat().st_size for path in files)} bytes")


if __name__ == "__main__":
    main()
