"""A broker with heavy transactions, groups of all types, restarts and a crash: what brokers write of their own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .broker import Broker, Node, stop
from .kafka import InteropError, Java, last
from .make import WORK
from .streams import stream

SECONDS = 300
SETTINGS = """\
# As brokers are by default: writes of transactions are verified.
transaction.partition.verification.enable=true
# What is forgotten in days elsewhere is forgotten in seconds here.
transactional.id.expiration.ms=15000
log.retention.check.interval.ms=1000
transaction.remove.expired.transaction.cleanup.interval.ms=500
producer.id.expiration.ms=4000
producer.id.expiration.check.interval.ms=500
log.flush.start.offset.checkpoint.interval.ms=500
"""
FIRST = ("transaction.version=1",)
"""Producers keep their epoch at this level; at the next each transaction raises it (KIP-890)."""
WORKS = 5
"""How often Busy's work is done,"""
COMMITTED, ABORTED = 3 * 8 + 1 + 3, 3 * 4 + 1 + 1 + 1
"""and how many transactions end so in each: of the applications, of fenced, too-slow and table."""


@contextmanager
def busy(work: Path = WORK) -> Iterator[Path]:
    """The log folder of a broker after all that; it has ended."""
    java = Java.prepare(work)
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as name:
        node = Node.formatted(java, Path(name), settings=SETTINGS, features=FIRST)
        with node.running() as broker:
            for phase in ("begin", "work", "work"):
                _traffic(broker, phase)
        with node.running() as broker:
            _traffic(broker, "work")
            _traffic(broker, "upgrade")
            stream(broker.port, "streams", "input")
            for _ in range(2):
                _traffic(broker, "work")
            steady = _begun(broker)
            time.sleep(8)
            broker.process.kill()
            broker.process.wait(SECONDS)
        try:
            with node.running() as broker:
                if steady.wait(SECONDS):
                    said = last(_said(broker).read_bytes())
                    raise InteropError(f"the steady producers ended with {steady.returncode}:\n{said}")
                _traffic(broker, "end")
                time.sleep(3)
                with broker.paused():
                    shutil.copytree(node.logs, node.folder / "copy")
        finally:
            stop(steady)
        yield node.folder / "copy"


def _traffic(broker: Broker, phase: str) -> None:
    broker.java.run("Busy", broker.bootstrap, phase, seconds=SECONDS)


def _begun(broker: Broker) -> subprocess.Popen[bytes]:
    """Producers that do not end when the broker does."""
    with _said(broker).open("wb") as said:
        return subprocess.Popen(
            broker.java.command("Busy", broker.bootstrap, "steady"), stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )


def _said(broker: Broker) -> Path:
    return broker.logs.parent / "steady.txt"
