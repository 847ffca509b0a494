"""Captures real traffic with tcpdump and tshark on loopback: ``python -m tests.interop.captures FOLDER``.

Needs both programs and the right to capture, Maven and a JDK, and the packages kafka-python and confluent-kafka.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from .admin import add_users, credential
from .broker import Broker, Node, free_ports, stop
from .clients import PASSWORD, USER
from .kafka import ROOT, InteropError, Java, bounded
from .make import WORK

START_SECONDS = 20
CLIENT_SECONDS = 180
QUIET_SECONDS = 2.0
"""Maximum delay between a packet on the interface and its record in the file."""
SASL = f"""\
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_{USER}="{PASSWORD}";
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
"""


@contextmanager
def capturing(*command: str, wanted: Path) -> Iterator[None]:
    """Capture into a file inside the ``with`` block."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_SECONDS
        while not wanted.exists() or not wanted.stat().st_size:
            if process.poll() is not None or time.monotonic() > end:
                raise InteropError(f"{command[0]} does not capture; it needs the permission to capture")
            time.sleep(0.1)
        time.sleep(QUIET_SECONDS)
        yield
        time.sleep(QUIET_SECONDS)
    finally:
        stop(process)


def with_sasl(node: Node) -> int:
    """Add a SASL listener to a node that is not running; return its port."""
    (port,) = free_ports(1)
    text = node.settings.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^((?:advertised\.)?listeners=.*)$", rf"\1,SASL://localhost:{port}", text)
    text = re.sub(r"(?m)^(listener\.security\.protocol\.map=.*)$", r"\1,SASL:SASL_PLAINTEXT", text)
    text = re.sub(r"(?m)^super\.users=.*$", rf"\g<0>;User:{USER}", text)
    node.settings.write_text(text + SASL, encoding="utf-8")
    return port


def client(name: str, port: int) -> None:
    bounded([sys.executable, "-m", "tests.interop.clients", name, f"localhost:{port}"], CLIENT_SECONDS)


def add_user(broker: Broker) -> None:
    """Add the SCRAM credential of the test user."""
    add_users(broker.port, credential(USER, PASSWORD, os.urandom(16)))


def capture(broker: Broker, sasl: int, folder: Path) -> None:
    """Capture the traffic of three clients, each with a different capture program and file format."""
    ports = f"tcp port {broker.port} or tcp port {sasl}"
    raw = folder / "kafka-python.pcap"
    tcpdump: tuple[str, ...] = ("tcpdump", "-i", "lo", "-U", "-s", "0", "-w")
    with capturing(*tcpdump, str(raw), ports, wanted=raw):
        client("kafka-python", sasl)
    nano = folder / "librdkafka.pcap"
    tcpdump = ("tcpdump", "-i", "any", "--time-stamp-precision=nano", "-U", "-s", "0", "-w")
    with capturing(*tcpdump, str(nano), ports, wanted=nano):
        client("librdkafka", broker.port)
    blocks = folder / "java.pcapng"
    with capturing("tshark", "-i", "lo", "-f", ports, "-w", str(blocks), wanted=blocks):
        add_user(broker)
        java(broker)


def java(broker: Broker) -> None:
    """Run Kafka's own clients: produce, consume in a group of the new protocol, send admin requests."""
    where = ("--bootstrap-server", broker.bootstrap)
    topic = ("--topic", "captured-java")
    run = partial(broker.java.run, seconds=CLIENT_SECONDS)
    tools = "org.apache.kafka.tools"
    run(f"{tools}.TopicCommand", *where, "--create", *topic, "--partitions", "2")
    properties = ("bootstrap.servers=" + broker.bootstrap, "client.id=java-producer", "compression.type=gzip")
    sizes = ("--num-records", "5", "--record-size", "20", "--throughput", "-1")
    run(f"{tools}.ProducerPerformance", *topic, *sizes, "--producer-props", *properties)
    group = ("--group", "java-group", "--consumer-property", "group.protocol=consumer")
    counts = ("--from-beginning", "--max-messages", "5", "--timeout-ms", "30000")
    run(f"{tools}.consumer.ConsoleConsumer", *where, *topic, *group, *counts)
    run(f"{tools}.consumer.group.ConsumerGroupCommand", *where, "--describe", "--all-groups")
    run(f"{tools}.TopicCommand", *where, "--describe")


def follow(capture: Path, folder: Path) -> None:
    """Write the first connection of a capture as text, in each output format of tshark."""
    for form in ("hex", "raw", "yaml"):
        text = bounded(["tshark", "-r", str(capture), "-q", "-z", f"follow,tcp,{form},0"], CLIENT_SECONDS)
        (folder / f"follow.{form}.txt").write_text(text, encoding="utf-8")


def requests(broker: Broker) -> Iterator[str]:
    """Yield the entry of each request in the broker's log, in Kafka's JSON form."""
    for each in broker.requests():
        sender = each["connection"].split("-")[1].rsplit(":", 1)[1]
        bodies = {name: each[name] for name in ("request", "response") if name in each}
        yield json.dumps({"port": int(sender), **each["requestHeader"], **bodies}, separators=(",", ":")) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.captures", description=__doc__)
    parser.add_argument("folder", type=Path, help="where its files are replaced")
    parser.add_argument("--work", type=Path, default=WORK)
    options = parser.parse_args(argv)
    java = Java.prepare(options.work)
    tools = Java.of("tools", options.work)
    java = Java(f"{java.classpath}:{tools.classpath}")
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as name:
        node = Node.formatted(java, Path(name))
        sasl = with_sasl(node)
        folder = Path(name) / "captures"
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        Path(name).chmod(0o755)
        with node.running() as broker:
            add_user(broker)
            capture(broker, sasl, folder)
            text = "".join(requests(broker))
        options.folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.iterdir()):
            (options.folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        follow(folder / "librdkafka.pcap", options.folder)
        (options.folder / "requests.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    for path in sorted(options.folder.iterdir()):
        print(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
