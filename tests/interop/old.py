"""A broker of Kafka 2.8 with ZooKeeper on loopback, and clients of that release.

``python -m tests.interop.old FILE`` writes its responses to every announced API and version, and to a client.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from kafka_messages import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, MetadataResponse
from kafka_messages.protocol import FrameReader, api

from .broker import Broker, free_ports, started
from .everything import NAME, request
from .kafka import COMPILE_SECONDS, HERE, InteropError, Java, bounded
from .make import WORK
from .peers import Peer
from .tap import tapped
from .wire import Connection

RELEASE = "2.8.2"
"""Release in kafka-2.8.pom.xml."""
API_VERSIONS, METADATA = 3, 10
"""Highest versions of ApiVersions and Metadata, a client's first requests, in that release."""
TOPIC_SECONDS = 30
CODECS = ("none", "gzip")
ZOOKEEPER = """\
dataDir={folder}/zookeeper
clientPort={zookeeper}
clientPortAddress=localhost
admin.enableServer=false
"""
SETTINGS = """\
broker.id=1
zookeeper.connect=localhost:{zookeeper}
listeners=PLAINTEXT://localhost:{port},CAPTURED://localhost:{behind}
advertised.listeners=PLAINTEXT://localhost:{port},CAPTURED://localhost:{tap}
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CAPTURED:PLAINTEXT
log.dirs={folder}/logs
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=true
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
super.users=User:ANONYMOUS
log.cleaner.dedupe.buffer.size=4194304
controlled.shutdown.enable=false
"""


def prepare(work: Path) -> Java:
    """Download Kafka 2.8 and compile the client program with its classes."""
    libraries = Java.of(f"kafka-{RELEASE.rpartition('.')[0]}", work).classpath
    classes = work / f"classes-{RELEASE}"
    source = HERE / "java" / "Talk.java"
    bounded(["javac", "-d", str(classes), "-cp", libraries, str(source)], COMPILE_SECONDS)
    return Java(os.pathsep.join([str(HERE / "java" / "old"), str(classes), libraries]))


def client(java: Java) -> Peer:
    """Return Kafka's own client of that release."""
    return Peer(f"java-{RELEASE}", java.command("Talk"))


@contextmanager
def running(java: Java, folder: Path) -> Iterator[Broker]:
    """Run a broker with new logs in ``folder`` inside the ``with`` block."""
    zookeeper, port, behind, tap = free_ports(4)
    ports = {"zookeeper": zookeeper, "port": port, "behind": behind, "tap": tap}
    own, of_broker = folder / "zookeeper.properties", folder / "server.properties"
    own.write_text(ZOOKEEPER.format(folder=folder, **ports), encoding="utf-8")
    of_broker.write_text(SETTINGS.format(folder=folder, **ports), encoding="utf-8")
    keeper = java.command("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(own))
    broker, output_file = java.command("kafka.Kafka", str(of_broker), heap="512m"), folder / "broker.txt"
    with (
        started(keeper, zookeeper, folder / "zookeeper.txt"),
        started(broker, port, output_file) as process,
    ):
        yield Broker(java, port, behind, tap, folder / "logs", output_file, process)


def exchanges(port: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield request and response, without length prefixes, for every API and version that the broker announces."""
    with Connection(port) as connection:
        topic = _topic_id(connection)
        software = ApiVersionsRequest(client_software_name=NAME, client_software_version="1")
        announced = connection.ask(software, API_VERSIONS, ApiVersionsResponse)
        for each in announced.api_keys:
            for version in range(each.min_version, each.max_version + 1):
                yield connection.exchange(request(api(each.api_key), topic).downgraded(version), version)


def _topic_id(connection: Connection) -> UUID:
    deadline = time.monotonic() + TOPIC_SECONDS
    asked = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=NAME)])
    while time.monotonic() < deadline:
        (topic,) = connection.ask(asked, METADATA, MetadataResponse).topics
        if topic.error_code == 0:
            return topic.topic_id
        time.sleep(0.2)
    raise InteropError(f"the broker did not create a topic within {TOPIC_SECONDS} seconds")


def captured(broker: Broker, folder: Path) -> Iterator[list[tuple[bytes, bytes]]]:
    """Run a client of the release; yield its requests with their responses, for each connection."""
    with tapped(broker.tap, broker.behind, folder):
        client(broker.java).talk(broker.tap, "captured", CODECS)
    for path in sorted(folder.glob("*.request.bin")):
        responses = folder / path.name.replace("request", "response")
        # A Fetch request that is pending when the client ends has no response.
        yield list(zip(_frames(path), _frames(responses), strict=False))


def _frames(path: Path) -> list[bytes]:
    reader = FrameReader()
    reader.feed(path.read_bytes())
    return [bytes(frame) for frame in reader]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.old", description=__doc__)
    parser.add_argument("file", type=Path, help="lines of connection, request and answer as hexadecimal, with gzip")
    options = parser.parse_args(argv)
    with (
        tempfile.TemporaryDirectory(prefix="kafka-messages-") as folder,
        running(prepare(WORK), Path(folder)) as broker,
    ):
        connections = [list(exchanges(broker.port)), *captured(broker, Path(folder, "traffic"))]
    lines = (
        f"{number} {sent.hex()} {answered.hex()}\n"
        for number, connection in enumerate(connections)
        for sent, answered in connection
    )
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main()
