"""KRaft brokers on loopback, each with its own folder; the first broker is also the controller."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .kafka import InteropError, Java, last

CLUSTER_ID = "a2Fma2EtbWVzc2FnZXMtMQ"
CAPTURED = "CAPTURED"
"""Listener that clients reach through the relay."""
REQUEST = b"Completed request:"
"""Prefix of the lines from the broker's request logger; see java/log4j2.properties."""
FORMAT_SECONDS = 60
START_SECONDS = 120
STOP_SECONDS = 30
SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:{controller}
listeners=PLAINTEXT://localhost:{port},CAPTURED://localhost:{behind},CONTROLLER://localhost:{controller}
# Clients that bootstrap at the relay stay there.
advertised.listeners=PLAINTEXT://localhost:{port},CAPTURED://localhost:{tap},CONTROLLER://localhost:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CAPTURED:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
# One node, few partitions.
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=2
auto.create.topics.enable=false
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
# A day's traffic in a minute: frequent snapshots and cleaning, short timeouts, delayed deletion.
share.coordinator.snapshot.update.records.per.snapshot=3
group.initial.rebalance.delay.ms=0
group.consumer.min.heartbeat.interval.ms=1000
group.consumer.heartbeat.interval.ms=1000
group.share.min.heartbeat.interval.ms=1000
group.share.heartbeat.interval.ms=1000
metadata.log.max.record.bytes.between.snapshots=1500
metadata.max.idle.interval.ms=5000
log.cleaner.backoff.ms=500
log.cleaner.dedupe.buffer.size=4194304
log.initial.task.delay.ms=100
log.segment.delete.delay.ms=600000
share.coordinator.state.topic.prune.interval.ms=86400000
log.retention.ms=-1
# Allow hanging transactions, which KIP-890 prevents, and abort expired ones at once.
transaction.partition.verification.enable=false
transaction.abort.timed.out.transaction.cleanup.interval.ms=500
"""


JOINED = """\
# No controller.
process.roles=broker
node.id={number}
listeners=PLAINTEXT://localhost:{port},CAPTURED://localhost:{behind}
advertised.listeners=PLAINTEXT://localhost:{port},CAPTURED://localhost:{tap}
"""


@dataclass(frozen=True)
class Broker:
    """A running broker."""

    java: Java
    port: int
    behind: int
    """Port of the listener that the relay connects to."""
    tap: int
    """Port of the relay, for clients."""
    logs: Path
    output_file: Path
    process: subprocess.Popen[bytes]

    @property
    def bootstrap(self) -> str:
        return f"localhost:{self.port}"

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Suspend the process inside the ``with`` block, so that its files can be copied consistently."""
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield the broker's log of each answered request, with request and response as Kafka's JSON."""
        for line in _lines(self.output_file):
            _, mark, rest = line.partition(REQUEST)
            if mark:
                yield json.loads(rest[: rest.rindex(b"}") + 1])


@contextmanager
def orderly_end() -> Iterator[None]:
    """Turn SIGTERM into SystemExit inside the ``with`` block, so that context managers stop their processes."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(frozen=True)
class Node:
    """A broker with formatted storage that may not be running: folder and ports."""

    java: Java
    folder: Path
    port: int
    controller: int
    behind: int
    tap: int

    @classmethod
    def formatted(
        cls,
        java: Java,
        folder: Path,
        *,
        settings: str = "",
        features: Sequence[str] = (),
        first: Node | None = None,
        number: int = 2,
    ) -> Node:
        """Return a new node with empty logs. ``settings`` are extra lines; ``features`` are levels such as ``name=1``.

        With ``first`` the node joins that cluster as the broker ``number``.
        """
        port, controller, behind, tap = free_ports(4)
        node = cls(java, folder, port, first.controller if first else controller, behind, tap)
        ports = {"port": port, "controller": node.controller, "behind": behind, "tap": tap}
        joined = JOINED.format(number=number, **ports) if first else ""
        lines = SETTINGS.format(logs=node.logs, **ports) + joined + settings
        node.settings.write_text(lines, encoding="utf-8")
        form = ["format", "--cluster-id", CLUSTER_ID, "--config", str(node.settings)]
        form += [] if first else ["--standalone"]
        for each in features:
            form += ["--feature", each]
        java.run("kafka.tools.StorageTool", *form, seconds=FORMAT_SECONDS)
        return node

    @property
    def settings(self) -> Path:
        return self.folder / "server.properties"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @contextmanager
    def running(self) -> Iterator[Broker]:
        """Run the broker inside the ``with`` block; can be repeated. Exceptions get the end of the log as a note."""
        command = self.java.command("kafka.Kafka", str(self.settings), heap="512m")
        output_file = self.folder / "broker.txt"
        with started(command, self.port, output_file) as process:
            yield Broker(self.java, self.port, self.behind, self.tap, self.logs, output_file, process)


@contextmanager
def running(java: Java, folder: Path) -> Iterator[Broker]:
    """Run a broker with new logs in ``folder`` inside the block."""
    with Node.formatted(java, folder).running() as broker:
        yield broker


@contextmanager
def started(command: Sequence[str], port: int, output_file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server inside the ``with`` block, once its port accepts connections. Exceptions get the log as a note."""
    with orderly_end():
        with output_file.open("ab") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            _wait(process, port)
            yield process
        except BaseException as error:
            error.add_note(f"The broker said at last:\n{_log(output_file)}")
            raise
        finally:
            stop(process)


def free_ports(count: int) -> list[int]:
    """Return unused ports on loopback."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def stop(process: subprocess.Popen[bytes], seconds: float = STOP_SECONDS) -> None:
    """Terminate a process; kill it after a timeout."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    if process.poll() is None:
        process.kill()
        process.wait(seconds)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise InteropError(f"the broker exited with {process.returncode}")
        with suppress(OSError), socket.create_connection(("localhost", port), 1):
            return
        time.sleep(0.2)
    raise InteropError(f"the broker did not listen after {START_SECONDS} seconds")


def _lines(output_file: Path) -> list[bytes]:
    return output_file.read_bytes().splitlines(keepends=True)


def _log(output_file: Path) -> str:
    return last(b"".join(line for line in _lines(output_file) if REQUEST not in line))
