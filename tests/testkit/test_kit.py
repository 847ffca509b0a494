"""Contexts of cluster and proxy: start and end, addresses, recorded exchanges, and clients that misbehave."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import ApiVersionsRequest, ApiVersionsResponse, FetchRequest, HeartbeatRequest, MetadataRequest
from kafka_messages.aio import serve
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import ErrorCode, frame
from kafka_messages_testkit import KafkaCluster, KafkaProxy

from kafka_messages_tools.conversation import render
from tests.support.certificates import certificate
from tests.support.testkit_broker import ANNOUNCED, Broker, asked, broker

HEARTBEAT = HeartbeatRequest(group_id="billing", member_id="one")
MOST_SECONDS = 1.0


@pytest.fixture
def behind() -> Iterator[Broker]:
    with broker() as made:
        yield made


@pytest.fixture(params=["cluster", "proxy"])
def kit(request: pytest.FixtureRequest) -> Iterator[Any]:
    with ExitStack() as stack:
        if request.param == "cluster":
            yield stack.enter_context(KafkaCluster(topics={"orders": 1}))
        else:
            yield stack.enter_context(KafkaProxy(stack.enter_context(broker()).address))


def connected(servers: str) -> socket.socket:
    host, _, port = servers.split(",")[0].rpartition(":")
    return socket.create_connection((host, int(port)), timeout=5)


def test_a_cluster_listens_at_a_port_per_broker() -> None:
    with KafkaCluster(3) as cluster:
        addresses = cluster.bootstrap_servers.split(",")
        [metadata] = asked(cluster.bootstrap_servers, MetadataRequest())
    assert len(set(addresses)) == 3
    assert [(each.node_id, f"{each.host}:{each.port}") for each in metadata.brokers] == [
        (number, address) for number, address in enumerate(addresses, 1)
    ]


def test_a_proxy_listens_at_a_port_per_broker_and_replaces_addresses() -> None:
    with KafkaCluster(3) as cluster, KafkaProxy(cluster.bootstrap_servers) as proxy:
        before = cluster.bootstrap_servers.split(",")
        after = proxy.bootstrap_servers.split(",")
        [metadata] = asked(proxy.bootstrap_servers, MetadataRequest())
    assert not set(before) & set(after)
    assert [f"{each.host}:{each.port}" for each in metadata.brokers] == after


def test_a_proxy_opens_ports_for_brokers_that_it_learns_of() -> None:
    with KafkaCluster(3) as cluster, KafkaProxy(cluster.bootstrap_servers.split(",")[0]) as proxy:
        [metadata] = asked(proxy.bootstrap_servers, MetadataRequest())
        second = next(f"{each.host}:{each.port}" for each in metadata.brokers if each.node_id == 2)
        asked(second, MetadataRequest())
        assert [each.node_id for each in proxy.exchanges(MetadataRequest)] == [1, 2]
        assert [each.node_id for each in cluster.exchanges(MetadataRequest)] == [1, 2]


@pytest.mark.parametrize(
    "servers", ["", "localhost", "localhost:", ":9092", "localhost:port", "localhost:70000", "a:1,,b:2", "a:1;b:2"]
)
def test_invalid_addresses_are_refused(servers: str) -> None:
    with pytest.raises(ValueError, match=r"^bootstrap_servers has '.*'; expected addresses such as localhost:9092$"):
        KafkaProxy(servers)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"brokers": 0}, "brokers must be a number from 1 on, not 0"),
        ({"brokers": True}, "brokers must be a number from 1 on, not True"),
        ({"topics": {"a b": 1}}, "topic 'a b': Topic name 'a b' is invalid."),
        ({"topics": {"a": 0}}, "topic 'a': A topic needs at least one partition."),
    ],
)
def test_invalid_arguments_of_a_cluster_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        KafkaCluster(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topics": ["a"]}, "topics must map names to numbers of partitions, such as {'orders': 1}, not ['a']"),
        ({"topics": {"a": "1"}}, "topics must map names to numbers of partitions, not 'a' to '1'"),
        ({"release": 3.9}, "release must be str, such as '3.9', not 3.9"),
    ],
)
def test_arguments_of_another_type_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
        KafkaCluster(**arguments)


def test_offsets_without_partitions_are_refused() -> None:
    offsets: Any = {"orders": 1}
    message = "offsets must be by topic and partition, such as {('orders', 0): 1}, not {'orders': 1}"
    with KafkaCluster(topics={"orders": 1}) as cluster, pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
        cluster.commit("billing", offsets)


def test_a_list_of_addresses_is_refused() -> None:
    servers: Any = ["localhost:9092"]
    message = "bootstrap_servers must be str with commas between addresses, not ['localhost:9092']"
    with pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
        KafkaProxy(servers)


def test_an_unknown_release_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.7"):
        KafkaCluster(release="0.7")


def test_a_cluster_can_announce_an_older_release() -> None:
    with KafkaCluster(release="2.8") as cluster:
        request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
        [response] = asked(cluster.bootstrap_servers, request, version=3)
    assert {each.api_key: each.max_version for each in response.api_keys}[3] == 11


@pytest.mark.parametrize("name", ["", "-", "a b"])
def test_invalid_names_of_clients_are_refused(name: str) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    with KafkaCluster() as cluster:
        [response] = asked(cluster.bootstrap_servers, request, version=3)
    assert response == ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)


def test_features_from_level_0_on_are_announced_in_version_4() -> None:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    with KafkaCluster() as cluster:
        old, new = (asked(cluster.bootstrap_servers, request, version=version)[0] for version in (3, 4))
    assert [each.name for each in new.supported_features] == ["group.version", "transaction.version"]
    assert old == dataclasses.replace(new, supported_features=[])


@pytest.mark.parametrize(
    "made", [lambda: KafkaCluster(), lambda: KafkaProxy("localhost:9092")], ids=["cluster", "proxy"]
)
def test_a_context_is_entered_once(made: Any) -> None:
    kit = made()
    name = type(kit).__name__
    with pytest.raises(RuntimeError, match=f"^{name} is not started; use it in a with statement$"):
        _ = kit.bootstrap_servers
    with kit:
        pass
    with pytest.raises(RuntimeError, match=f"^{name} was started before; create another one$"):
        kit.__enter__()


@pytest.mark.parametrize(
    "use",
    [
        lambda cluster: cluster.records("orders"),
        lambda cluster: cluster.committed("billing"),
        lambda cluster: cluster.start_broker(1),
        lambda cluster: cluster.group("billing").wait_stable(1),
    ],
)
def test_a_cluster_that_has_stopped_says_so(use: Any) -> None:
    with KafkaCluster(topics={"orders": 1}) as cluster:
        cluster.stop_broker(1)
    with pytest.raises(RuntimeError, match=r"^KafkaCluster has stopped; call this in its with statement$"):
        use(cluster)


def test_rules_for_brokers_that_do_not_exist_are_refused() -> None:
    message = "^there is no broker 4; the node ids are 1 to 3$"
    with KafkaCluster(3) as cluster, pytest.raises(ValueError, match=message):
        cluster.on(HeartbeatRequest, node_id=4)


def test_requests_and_exchanges_are_recorded(behind: Broker) -> None:
    with KafkaProxy(behind.address) as proxy:
        for name in ("one", "two"):
            asked(proxy.bootstrap_servers, HEARTBEAT, connection=ClientConnection(name))
        assert proxy.requests(HeartbeatRequest) == [HEARTBEAT, HEARTBEAT]
        assert proxy.requests(FetchRequest) == []
        assert len(proxy.exchanges()) == 4
        [found] = proxy.exchanges(HeartbeatRequest, client_id="two")
        assert found is proxy.exchanges(HeartbeatRequest)[1]
        assert (found.request, found.version, found.client_id) == (HEARTBEAT, 4, "two")
        assert found.response.error_code == 0
        assert found.received_at <= (found.answered_at or 0)
        assert found.request_data == found.decoded.encode()
        assert proxy.exchanges(node_id=7) == []


def test_a_client_that_sends_invalid_bytes_loses_only_its_own_connection(kit: Any) -> None:
    with connected(kit.bootstrap_servers) as bad:
        bad.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert bad.recv(100) == b""
    assert len(asked(kit.bootstrap_servers, MetadataRequest())) == 1


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0\x20\0\x03", b"\x7f\xff\xff\xff"])
def test_clients_that_hang_do_not_delay_the_end(data: bytes) -> None:
    with ExitStack() as clients:
        with KafkaCluster(2) as cluster:
            for _ in range(5):
                clients.enter_context(connected(cluster.bootstrap_servers)).sendall(data)
            begin = time.monotonic()
        assert time.monotonic() - begin < MOST_SECONDS


def test_held_requests_do_not_delay_the_end(behind: Broker) -> None:
    def ask(servers: str) -> None:
        with pytest.raises(ConnectionError):
            asked(servers, HEARTBEAT)

    with KafkaProxy(behind.address) as proxy:
        held = proxy.on(HeartbeatRequest).drop()
        thread = threading.Thread(target=ask, args=[proxy.bootstrap_servers])
        thread.start()
        held.wait()
        begin = time.monotonic()
    assert time.monotonic() - begin < MOST_SECONDS
    thread.join()


def test_a_proxy_reports_a_broker_that_does_not_run(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with KafkaProxy(address) as proxy, pytest.raises(ConnectionError):
        asked(proxy.bootstrap_servers, HEARTBEAT)
    assert f"no connection to '127.0.0.1' port {address.rpartition(':')[2]}" in caplog.text


def test_a_proxy_connects_with_tls(tmp_path: Path) -> None:
    keys = certificate(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*keys)
    context = ssl.create_default_context(cafile=str(keys[0]))
    made = Broker()

    def ask(port: int) -> None:
        with KafkaProxy(f"localhost:{port}", ssl_context=context) as proxy:
            asked(proxy.bootstrap_servers, HEARTBEAT)

    async def run() -> None:
        listener = await serve(made.answer, announced=ANNOUNCED, ssl_context=server)
        try:
            await asyncio.to_thread(ask, listener.port)
        finally:
            await listener.close(0.1)

    asyncio.run(run())
    assert made.requests == [HEARTBEAT]


def test_a_context_is_used_in_a_coroutine() -> None:
    async def run() -> list[Any]:
        with KafkaCluster(topics={"orders": 2}) as cluster:
            return await asyncio.to_thread(asked, cluster.bootstrap_servers, MetadataRequest(topics=None))

    [metadata] = asyncio.run(run())
    assert [(each.name, len(each.partitions)) for each in metadata.topics] == [("orders", 2)]


def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    for _ in range(20):
        with KafkaCluster(3) as cluster:
            asked(cluster.bootstrap_servers, MetadataRequest())
    assert threading.active_count() == before


UNSUPPORTED = bytes.fromhex("0012 0063 00000007 0001 61 00 02 62 02 63 00")  # ApiVersionsRequest 99


def exchanged(kit: KafkaCluster | KafkaProxy, data: bytes) -> bytes:
    """Send a request, and return the payload of the response; empty for a closed connection."""
    host, _, port = kit.bootstrap_servers.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=5) as stream:
        stream.sendall(frame(data))
        answer = stream.makefile("rb")
        return answer.read(int.from_bytes(answer.read(4), "big"))


def test_unknown_version_of_api_versions_gets_one_range(tmp_path: Path) -> None:
    expected = bytes.fromhex("00000007 0023 00000001 0012 0000 0005")
    with KafkaCluster() as cluster, KafkaProxy(cluster.bootstrap_servers) as proxy:
        assert exchanged(cluster, UNSUPPORTED) == expected
        assert exchanged(proxy, UNSUPPORTED) == expected
        [direct] = cluster.exchanges()  # the proxy answers itself
    assert direct.version == 99
    assert direct.request_data == frame(UNSUPPORTED)
    assert direct.response_data == frame(expected)
    assert "ApiVersions v99" in render([direct], explain=True)
    cluster.save(tmp_path / "traffic.pcap")
    assert frame(UNSUPPORTED) in (tmp_path / "traffic.pcap").read_bytes()


@pytest.mark.parametrize("action", ["fail", "respond", "disconnect", "corrupt"])
def test_rules_affect_unknown_versions_of_api_versions(action: str) -> None:
    def empty(request: ApiVersionsRequest) -> ApiVersionsResponse:
        return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)

    with KafkaCluster() as cluster:
        trigger = cluster.on(ApiVersionsRequest)
        rule = {
            "fail": lambda: trigger.fail(ErrorCode.INVALID_REQUEST),
            "respond": lambda: trigger.respond(empty),
            "disconnect": lambda: trigger.disconnect(after_bytes=8),
            "corrupt": lambda: trigger.corrupt("length"),
        }[action]()
        answer = exchanged(cluster, UNSUPPORTED)
        assert rule.called
    expected = {"fail": "00000007 002a 00000000", "respond": "00000007 0023 00000000", "disconnect": "00000007"}
    assert action == "corrupt" or answer == bytes.fromhex(expected[action])
