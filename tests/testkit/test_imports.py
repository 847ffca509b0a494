"""No module is imported in the thread of a cluster or proxy, where an import would delay or break other requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from kafka_messages import ApiVersionsRequest, FetchRequest, MetadataRequest, ProduceRequest
from kafka_messages.protocol import api, apis, encode_request
from kafka_messages_testkit.handlers.table import FAMILIES
from kafka_records import Record, write_batch

from kafka_protocol_vectors import Vector, vectors
from tests.support.testkit_broker import broker

PROGRAM = """
import json, socket, sys, threading
from kafka_messages_testkit import KafkaCluster, KafkaProxy

class Recorder:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread().name in ("KafkaCluster", "KafkaProxy"):
            imported.append(name)

def exchange(servers, frame):
    host, _, port = servers.split(",")[0].rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.settimeout(0.3)
        connection.sendall(frame)
        try:
            return bool(connection.recv(1 << 16))
        except TimeoutError:
            return False

imported = []
sys.meta_path.insert(0, Recorder())
kind, address, *frames = json.load(sys.stdin)
answered = 0
with KafkaProxy(address) if kind == "proxy" else KafkaCluster(topics={"orders": 1}) as kit:
    if kind == "rules":
        from kafka_messages import MetadataRequest, OffsetCommitRequest, FetchRequest, ProduceRequest
        kit.on(MetadataRequest, topic="orders", optional=True).fail(5)
        kit.on(OffsetCommitRequest, group="billing", optional=True).throttle(1)
        kit.on(FetchRequest, topic="orders", times=None, optional=True).corrupt()
        kit.on(ProduceRequest, partition=0, times=None, optional=True).change(lambda request, response: response)
    for frame in frames:
        answered += exchange(kit.bootstrap_servers, bytes.fromhex(frame))
print(json.dumps([answered, imported]))
"""
SERVED = ["ApiVersions", *(name for names in FAMILIES.values() for name in names)]


@cache
def full_vectors() -> list[Vector]:
    return [each for each in vectors() if each.sample == "full"]


def frames(names: list[str]) -> Iterator[bytes]:
    """Yield requests at the lowest and highest version, records in each codec, and malformed requests."""
    by_name = {each.request_name: each for each in map(api, names)}
    for vector in full_vectors():
        if vector.message in by_name:
            each = by_name[vector.message]
            if vector.version in (each.valid_versions.lowest, each.valid_versions.highest):
                message = each.request_class.read(vector.data, vector.version)
                yield encode_request(message, vector.version, 7, client_id="a")
    topic = FetchRequest.FetchTopic(topic="orders", partitions=[FetchRequest.FetchPartition(partition=0)])
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        records = write_batch([Record(timestamp=1, value=b"paid")], compression=codec)
        yield produced(records, 8)
    yield produced(write_batch([Record(timestamp=1, value=b"paid")], magic=1, compression="lz4"), 2)
    yield produced(b"\0" * 61, 8)
    for version in (3, 4):
        yield encode_request(FetchRequest(topics=[topic]), version, 7, client_id="a")
    data = encode_request(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="orders")]), 4, 7)
    yield data[:-6] + b"\0\xff" + data[-4:]
    yield encode_request(ApiVersionsRequest(), 3, 7)[:6] + b"\0\x63" + b"\0\0\0\7\xff\xff\0"
    yield b"GET / HTTP/1.1\r\n\r\n"


def produced(records: bytes, version: int) -> bytes:
    part = ProduceRequest.PartitionProduceData(index=0, records=records)
    topic = ProduceRequest.TopicProduceData(name="orders", partition_data=[part])
    request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
    return encode_request(request, version, 7, client_id="a")


@pytest.mark.parametrize("kind", ["cluster", "rules", "proxy"])
def test_the_thread_of_the_event_loop_imports_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    names = SERVED if kind != "proxy" else [each.name for each in apis() if not each.is_removed]
    sent = [each.hex() for each in frames(names)]
    with broker() as behind:
        given = json.dumps([kind, behind.address, *sent])
        done = subprocess.run([sys.executable, "-c", PROGRAM], input=given, capture_output=True, text=True, check=True)
    answered, imported = json.loads(done.stdout)
    assert imported == []
    assert answered > len(sent) / 2
