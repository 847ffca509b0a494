"""A broker with many transactions, all types of groups, restarts and a crash."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .broker import Broker, Node, stop
from .kafka import InteropError, Java, last
from .make import WORK
from .streams import stream

SECONDS = 300
SETTINGS = """\
# The default: brokers verify transactional writes.
transaction.partition.verification.enable=true
# Expiration in seconds instead of days.
transactional.id.expiration.ms=15000
log.retention.check.interval.ms=1000
transaction.remove.expired.transaction.cleanup.interval.ms=500
producer.id.expiration.ms=4000
producer.id.expiration.check.interval.ms=500
log.flush.start.offset.checkpoint.interval.ms=500
"""
FIRST = ("transaction.version=1",)
"""Feature level at which producers keep their epoch; from the next level on each transaction bumps it (KIP-890)."""
WORKS = 5
"""Number of times that the phase ``work`` of java/Busy.java runs."""
COMMITTED, ABORTED = 3 * 8 + 1 + 3, 3 * 4 + 1 + 1 + 1
"""Transactions per run of ``work``: by the applications, by fenced and slow producers, and for the table."""


@dataclass(frozen=True)
class Steady:
    """A process with producers that continue while the broker is down."""

    process: subprocess.Popen[bytes]
    output: Path

    def finish(self) -> None:
        """Wait for the process. Raise InteropError if it fails."""
        if code := self.process.wait(SECONDS):
            raise InteropError(f"the steady producers exited with status {code}:\n{last(self.output.read_bytes())}")


@contextmanager
def steady(broker: Broker) -> Iterator[Steady]:
    """Run the producers in the background, at most until the end of the ``with`` block."""
    path = broker.logs.parent / "steady.txt"
    with path.open("wb") as output:
        command = broker.java.command("Busy", broker.bootstrap, "steady")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield Steady(process, path)
    finally:
        stop(process)


def traffic(broker: Broker, phase: str) -> None:
    """Run a phase of java/Busy.java."""
    broker.java.run("Busy", broker.bootstrap, phase, seconds=SECONDS)


@contextmanager
def busy(work: Path = WORK) -> Iterator[Path]:
    """Yield the log folder of the stopped broker after all phases."""
    java = Java.prepare(work)
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as name, ExitStack() as producers:
        node = Node.formatted(java, Path(name), settings=SETTINGS, features=FIRST)
        with node.running() as broker:
            for phase in ("begin", "work", "work"):
                traffic(broker, phase)
        with node.running() as broker:
            traffic(broker, "work")
            traffic(broker, "upgrade")
            stream(broker.port, "streams", "input")
            for _ in range(2):
                traffic(broker, "work")
            writing = producers.enter_context(steady(broker))
            time.sleep(8)
            broker.process.kill()
            broker.process.wait(SECONDS)
        with node.running() as broker:
            writing.finish()
            traffic(broker, "end")
            time.sleep(3)
            with broker.paused():
                shutil.copytree(node.logs, node.folder / "copy")
        yield node.folder / "copy"
