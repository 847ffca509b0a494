"""Exchanges saved as pcap, and read again by the capture reader."""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from kafka_messages import ApiVersionsRequest, MetadataRequest
from kafka_messages.aio import connect
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import Exchange, KafkaCluster, KafkaProxy

from kafka_messages_tools.capture import open_capture, read_packets
from kafka_messages_tools.command import main
from tests.support.full_disk import fill_disk


def metadata(*topics: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in topics])


async def ask(servers: str, *requests: MetadataRequest, client_id: str = "billing") -> None:
    """Send requests to the first broker, without waiting for responses between them."""
    host, _, port = servers.split(",")[0].rpartition(":")
    async with await connect(host, int(port), connection=ClientConnection(client_id)) as client:
        await asyncio.gather(*map(client.request, requests), return_exceptions=True)


def frames(exchanges: Iterable[Exchange]) -> list[tuple[str | None, bytes, bytes]]:
    return sorted((each.client_id, each.request_data, each.response_data) for each in exchanges)


def read(path: Path) -> list[tuple[str | None, bytes, bytes]]:
    found = []
    with open_capture(path) as capture:
        for each in capture:
            assert each.request_frame is not None
            pair = [each.request_frame, each.response_frame]
            data = [b"" if one is None else one.size.to_bytes(4, "big") + one.data for one in pair]
            found.append((each.client_id, data[0], data[1]))
        assert capture.report.remarks == []
    return sorted(found)


def test_saved_exchanges_are_read_again(tmp_path: Path) -> None:
    with KafkaCluster(2, topics={"orders": 3}) as cluster:
        cluster.on(MetadataRequest, topic="orders").fail(ErrorCode.LEADER_NOT_AVAILABLE)
        asyncio.run(ask(cluster.bootstrap_servers, *(metadata("orders", f"no-{number}") for number in range(20))))
        asyncio.run(ask(cluster.bootstrap_servers, metadata("orders"), client_id="audit"))
        cluster.save(tmp_path / "traffic.pcap")
        saved = frames(cluster.exchanges())
    assert len(saved) == 23
    assert read(tmp_path / "traffic.pcap") == saved


def test_full_disk_leaves_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "traffic.pcap"
    path.write_bytes(b"old")
    fill_disk(monkeypatch)
    with KafkaCluster(1) as cluster, pytest.raises(OSError, match=re.escape(f"No space left on device: '{path}'")):
        cluster.save(path)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"]


def test_frames_larger_than_a_packet_are_saved(tmp_path: Path) -> None:
    large = metadata(*(f"{number:0200}" for number in range(1000)))
    with KafkaCluster() as cluster:
        asyncio.run(ask(cluster.bootstrap_servers, large, metadata("small")))
        cluster.save(tmp_path / "traffic.pcap")
        saved = frames(cluster.exchanges())
    assert max(len(each[1]) for each in saved) > 200_000
    assert read(tmp_path / "traffic.pcap") == saved


def test_responses_keep_the_order_of_requests(tmp_path: Path) -> None:
    with KafkaCluster(topics={"slow": 1}) as cluster:
        cluster.on(MetadataRequest, topic="slow").delay(0.05)
        asyncio.run(ask(cluster.bootstrap_servers, metadata("slow"), metadata("fast")))
        cluster.save(tmp_path / "traffic.pcap")
        saved = frames(cluster.exchanges())
    assert all(response for _, _, response in saved)
    assert read(tmp_path / "traffic.pcap") == saved


def test_unanswered_and_truncated_responses_are_saved(tmp_path: Path) -> None:
    with KafkaCluster() as cluster:
        cluster.on(MetadataRequest).disconnect(after_bytes=9)
        cluster.on(MetadataRequest).disconnect()
        for _ in range(2):
            asyncio.run(ask(cluster.bootstrap_servers, metadata("orders")))
        cluster.save(tmp_path / "traffic.pcap")
    with open_capture(tmp_path / "traffic.pcap") as capture:
        found = [each for each in capture if each.api and each.api.name == "Metadata"]
    assert [each.response_problem for each in found] == [
        "5 of 93 bytes were captured",
        "the client closed the connection",
    ]


def test_proxy_saves_the_responses_that_clients_get(tmp_path: Path) -> None:
    with KafkaCluster(topics={"orders": 1}) as cluster, KafkaProxy(cluster.bootstrap_servers) as proxy:
        proxy.on(MetadataRequest).fail(ErrorCode.LEADER_NOT_AVAILABLE)
        asyncio.run(ask(proxy.bootstrap_servers, metadata("orders"), metadata("orders")))
        proxy.save(tmp_path / "traffic.pcap")
        saved = frames(proxy.exchanges())
        assert all(response for _, _, response in saved)
    assert read(tmp_path / "traffic.pcap") == saved


def test_command_lists_saved_exchanges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with KafkaCluster() as cluster:
        asyncio.run(ask(cluster.bootstrap_servers, metadata("orders")))
        cluster.save(tmp_path / "traffic.pcap")
    assert main(("capture", str(tmp_path / "traffic.pcap"))) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == [
        "result",
        "ok",
        "UNKNOWN_TOPIC_OR_PARTITION",
    ]


def test_checksums_of_packets_are_right(tmp_path: Path) -> None:
    with KafkaCluster() as cluster:
        asyncio.run(ask(cluster.bootstrap_servers, metadata("odd"), metadata("even")))
        cluster.save(tmp_path / "traffic.pcap")
    with (tmp_path / "traffic.pcap").open("rb") as file:
        packets = [bytes(packet.data) for packet in read_packets(file)]
    assert len(packets) > 8
    for packet in packets:
        head, segment = packet[:20], packet[20:]
        assert ones_complement(head) == 0xFFFF
        assert ones_complement(head[12:20] + struct.pack(">HH", 6, len(segment)) + segment) == 0xFFFF


def ones_complement(data: bytes) -> int:
    total = 0
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big")
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_nothing_is_saved_as_an_empty_capture(tmp_path: Path) -> None:
    with KafkaCluster() as cluster:
        cluster.save(tmp_path / "traffic.pcap")
    assert read(tmp_path / "traffic.pcap") == []


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with KafkaCluster() as cluster, pytest.raises(FileNotFoundError):
        cluster.save(tmp_path / "none" / "traffic.pcap")
    assert cluster.requests(ApiVersionsRequest) == []
