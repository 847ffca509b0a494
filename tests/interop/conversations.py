"""Records the conversations of the site with tshark: ``python -m tests.interop.conversations FOLDER [NAME...]``.

Needs tshark and the right to capture, Maven and a JDK, and the free ports 9092 to 9094. Times, ids and ports differ in
each recording; check the annotations afterwards (``nox -s pages``).
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .broker import CLUSTER_ID, started
from .captures import capturing
from .kafka import Java
from .make import WORK

PORT = 9092
SECONDS = 120
# Only clients use port 9092. The other settings make one node and short conversations sufficient.
SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=CLIENT://localhost:9092,INTERNAL://localhost:9094,CONTROLLER://localhost:9093
advertised.listeners=CLIENT://localhost:9092,INTERNAL://localhost:9094,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
inter.broker.listener.name=INTERNAL
listener.security.protocol.map=CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
group.consumer.min.heartbeat.interval.ms=1000
group.consumer.heartbeat.interval.ms=1000
group.consumer.assignment.interval.ms=0
"""
CONVERSATIONS = {
    "first-contact": ("first-contact", 2),
    "produce": ("produce", 2),
    "classic-group": ("classic-group", 2),
    "consumer-group": ("consumer-group", 2),
    "transaction-1": ("transaction", 1),
    "transaction-2": ("transaction", 2),
}
"""Program of java/Conversations.java and transaction version, by name of the file."""


@contextmanager
def running(java: Java, folder: Path, transaction_version: int) -> Iterator[None]:
    """Run a broker with new logs in ``folder`` and the topics of the conversations inside the ``with`` block."""
    settings = folder / "server.properties"
    settings.write_text(SETTINGS.format(logs=folder / "logs"), encoding="utf-8")
    form = ("format", "--cluster-id", CLUSTER_ID, "--config", str(settings), "--standalone")
    feature = ("--feature", f"transaction.version={transaction_version}")
    java.run("kafka.tools.StorageTool", *form, *feature, seconds=SECONDS)
    with started(java.command("kafka.Kafka", str(settings), heap="512m"), PORT, folder / "broker.txt"):
        java.run("Conversations", "topics", f"localhost:{PORT}", seconds=SECONDS)
        yield


def record(java: Java, name: str, folder: Path) -> bytes:
    """Return the packets of a conversation as pcap."""
    program, transaction_version = CONVERSATIONS[name]
    raw = folder / f"{name}.pcap"
    with running(java, folder, transaction_version):
        tshark = ("tshark", "-i", "lo", "-F", "pcap", "-f", f"tcp port {PORT}", "-w", str(raw))
        with capturing(*tshark, wanted=raw):
            java.run("Conversations", program, f"localhost:{PORT}", seconds=SECONDS)
    return raw.read_bytes()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.conversations", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files NAME.pcap.gz are replaced")
    parser.add_argument("names", nargs="*", choices=[*CONVERSATIONS, []], help="default: all", metavar="NAME")
    parser.add_argument("--work", type=Path, default=WORK)
    options = parser.parse_args(argv)
    java = Java.prepare(options.work)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or CONVERSATIONS:
        with tempfile.TemporaryDirectory(prefix="kafka-messages-") as folder:
            Path(folder).chmod(0o777)
            data = record(java, name, Path(folder))
        path = options.folder / f"{name}.pcap.gz"
        path.write_bytes(gzip.compress(data, mtime=0))
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
