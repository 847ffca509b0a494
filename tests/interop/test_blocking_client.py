"""The guide's blocking client, and ``aio.connect``, with a live broker: plaintext, TLS, SASL/PLAIN and SCRAM."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kafka_messages import CreateTopicsRequest, MetadataRequest
from kafka_messages.aio import connect
from kafka_messages.connection import AuthenticationError

from tests.interop.admin import add_users, ask, credential
from tests.interop.broker import Broker, Node, free_ports
from tests.interop.kafka import Java
from tests.interop.make import WORK
from tests.support import pages
from tests.support.certificates import certificate

USER, PASSWORD = "alice", "secret-of-alice"
Secured = tuple[Broker, int, int, ssl.SSLContext]
SETTINGS = """
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.both.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_{user}="{password}";
listener.name.both.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.both.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
"""


@pytest.fixture(scope="module")
def page() -> SimpleNamespace:
    names: dict[str, object] = {"__name__": "guide"}
    pages.run("docs/guide/blocking-client.md", names)
    return SimpleNamespace(**names)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Yield a broker with a topic, a user, and listeners for TLS and for TLS with SASL."""
    folder = tmp_path_factory.mktemp("secured")
    made, key = certificate(folder)
    keystore = folder / "keystore.pem"
    keystore.write_bytes(key.read_bytes() + made.read_bytes())
    node = Node.formatted(Java.prepare(WORK), folder)
    tls, both = free_ports(2)
    _add_listeners(node, tls, both, keystore)
    with node.running() as broker:
        salt = os.urandom(16)
        for algorithm in ("sha256", "sha512"):
            add_users(broker.port, credential(USER, PASSWORD, salt, algorithm))
        topic = CreateTopicsRequest.CreatableTopic(name="orders", num_partitions=3, replication_factor=1)
        ask(broker.port, CreateTopicsRequest(topics=[topic], timeout_ms=10_000))
        yield broker, tls, both, ssl.create_default_context(cafile=str(made))


def _add_listeners(node: Node, tls: int, both: int, keystore: Path) -> None:
    text = node.settings.read_text(encoding="utf-8")
    more = f",TLS://localhost:{tls},BOTH://localhost:{both}"
    text = re.sub(r"(?m)^((?:advertised\.)?listeners=.*)$", rf"\1{more}", text)
    text = re.sub(r"(?m)^(listener\.security\.protocol\.map=.*)$", r"\1,TLS:SSL,BOTH:SASL_SSL", text)
    text = re.sub(r"(?m)^super\.users=.*$", rf"\g<0>;User:{USER}", text)
    more = SETTINGS.format(keystore=keystore, user=USER, password=PASSWORD)
    node.settings.write_text(text + more, encoding="utf-8")


@pytest.mark.parametrize("listener", ["plain", "TLS"])
def test_client_without_sasl_lists_topics(listener: str, page: SimpleNamespace, secured: Secured) -> None:
    broker, tls, _, context = secured
    port, chosen = (tls, context) if listener == "TLS" else (broker.port, None)
    with page.connect("localhost", port, chosen) as stream:
        assert page.topics(page.Client(stream))["orders"] == 3


def _log_in(page: SimpleNamespace, client: Any, mechanism: str, password: str) -> None:
    if mechanism == "PLAIN":
        page.log_in_plain(client, USER, password)
    else:
        page.log_in_scram(client, USER, password, mechanism)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_client_lists_topics_with_each_sasl_mechanism(mechanism: str, page: SimpleNamespace, secured: Secured) -> None:
    _, _, port, context = secured
    with page.connect("localhost", port, context) as stream:
        client = page.Client(stream)
        _log_in(page, client, mechanism, PASSWORD)
        assert page.topics(client)["orders"] == 3
    with page.connect("localhost", port, context) as stream:
        client = page.Client(stream)
        with pytest.raises(RuntimeError, match=r"^SaslAuthenticateRequest: error_code is SASL_AUTHENTICATION_FAILED: "):
            _log_in(page, client, mechanism, "wrong")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_asyncio_client_logs_in_with_each_sasl_mechanism(mechanism: str, secured: Secured) -> None:
    _, _, port, context = secured

    async def partitions(password: str) -> int:
        sasl = mechanism, USER, password
        async with await connect("localhost", port, ssl_context=context, sasl=sasl) as broker:
            topic = (await broker.request(MetadataRequest(topics=None))).topics.find("orders")
            assert topic is not None
            return len(topic.partitions)

    assert asyncio.run(partitions(PASSWORD)) == 3
    with pytest.raises(AuthenticationError, match=rf"^{mechanism}: SASL_AUTHENTICATION_FAILED: "):
        asyncio.run(partitions("wrong"))
