"""Writes the files of a new cluster, and what Kafka's tools print about them: ``python -m tests.interop.make FOLDER``."""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .broker import CAPTURED, Broker, running
from .dump import SUFFIXES, Json, dump
from .kafka import ROOT, InteropError, Java, release
from .late import Late, hang
from .tap import tapped

WORK = ROOT / ".work" / "interop"
"""Cache folder of jars and classes."""
TRAFFIC_SECONDS = 600
ANSWER_SECONDS = 180
ATTEMPTS = 5


@dataclass(frozen=True)
class Live:
    """A running broker with traffic, and the folder with copies of its files and its responses."""

    broker: Broker
    late: Late
    folder: Path
    tools: Java

    def find_hanging(self) -> str:
        """Return the output of ``kafka-transactions find-hanging`` for transactions of any age."""
        arguments = ("--bootstrap-server", self.broker.bootstrap, "find-hanging", "--broker-id", "1")
        tool = "org.apache.kafka.tools.TransactionsCommand"
        return self.tools.run(tool, *arguments, "--max-transaction-timeout", "0", seconds=ANSWER_SECONDS)


@contextmanager
def live(work: Path = WORK) -> Iterator[Live]:
    """Run a new cluster with the traffic of java/Traffic.java inside the ``with`` block."""
    java = Java.prepare(work)
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as name, running(java, Path(name)) as broker:
        folder = Path(name) / "capture"
        with tapped(broker.tap, broker.behind, folder / "traffic"):
            java.run("Traffic", f"localhost:{broker.tap}", seconds=TRAFFIC_SECONDS)
            late = hang(broker.tap, "pay-late", "payments", 1)
        capture(broker, late, folder)
        yield Live(broker, late, folder, Java.of("tools", work))


def capture(broker: Broker, late: Late, folder: Path) -> None:
    """Write segments, snapshots, and the output of Kafka's clients and tools into ``folder``."""
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
        raise InteropError("the cluster does not become idle: its responses keep changing")
    expected = {"release": release(), "late": asdict(late), **json.loads(before)}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
    records = java.run("Expected", "records", broker.bootstrap, seconds=ANSWER_SECONDS)
    (folder / "records.jsonl").write_text(records, encoding="utf-8")
    _write_lines(folder / "dump.jsonl.gz", dump(java, logs))
    _write_lines(folder / "requests.jsonl.gz", _requests(broker))


def _requests(broker: Broker) -> Iterator[Json]:
    for each in broker.requests():
        if each["listener"] == CAPTURED:
            client = each["connection"].split("-")[1]
            bodies = {name: each[name] for name in ("request", "response")}
            yield {"connection": client.rsplit(":", 1)[1], **each["requestHeader"], **bodies}


def _write_lines(path: Path, objects: Iterable[Json]) -> None:
    text = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in objects)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _admin(broker: Broker) -> str:
    return broker.java.run("Expected", "admin", broker.bootstrap, seconds=ANSWER_SECONDS)


def _copy(source: Path, target: Path) -> None:
    for path in sorted(source.glob("*/*")):
        if path.suffix in SUFFIXES:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.make", description=__doc__)
    parser.add_argument("folder", type=Path, help="where its files are replaced")
    folder = parser.parse_args(argv).folder
    with live() as cluster:
        for name in ("logs", "traffic"):
            shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(cluster.folder, folder, dirs_exist_ok=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    print(f"{folder}: {len(files)} files, {sum(path.stat().st_size for path in files)} bytes")


if __name__ == "__main__":
    main()
