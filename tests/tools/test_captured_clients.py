"""Traffic of real clients, captured by tcpdump and tshark, compared with the broker's request log."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from kafka_messages_tools.capture import Clients, open_capture, to_line, to_object
from tests.support.captures import CAPTURES, captured, logged

PASSWORD = "planted-secret-of-alice"


@pytest.mark.parametrize("name", CAPTURES)
def test_captured_exchanges_equal_the_request_log_of_the_broker(name: str) -> None:
    log = logged()
    compared = Counter[str]()
    with open_capture(captured(name)) as capture:
        for exchange in capture:
            shown: Any = to_object(exchange, show_secrets=True, records="size")
            key = exchange.client.port, shown["api_key"], shown["api_version"], shown["correlation_id"]
            if key not in log:  # brokers do not log requests before authentication
                assert shown["api"] in ("ApiVersions", "SaslHandshake", "SaslAuthenticate")
                compared["before authentication"] += 1
                continue
            assert shown["client_id"] == log[key]["clientId"]
            for side in ("request", "response"):
                if side in shown:
                    assert shown[side]["body"] == log[key][side]
                    compared[side] += 1
            assert ("response" in shown) != exchange.has_no_response
    assert (
        compared
        == {
            "kafka-python.pcap": {"request": 44, "response": 43, "before authentication": 49},
            "librdkafka.pcap": {"request": 47, "response": 47},
            "java.pcapng": {"request": 65, "response": 65},
        }[name]
    )
    assert capture.report.remarks == []


@pytest.mark.parametrize("name", CAPTURES)
def test_captured_secrets_are_redacted(name: str) -> None:
    with open_capture(captured(name)) as capture:
        shown = [(json.dumps(to_object(exchange)), to_line(exchange)) for exchange in capture]
    with open_capture(captured(name)) as capture:
        secrets = [
            body
            for exchange in capture
            if exchange.api is not None and exchange.api.name == "SaslAuthenticate"
            for side in ("request", "response")
            for body in [to_object(exchange, show_secrets=True)[side]["body"]["authBytes"]]  # type: ignore[index]
            if len(body) > 8
        ]
    assert bool(secrets) == name.startswith("kafka-python")
    text = "\n".join(line for pair in shown for line in pair)
    assert [secret for secret in [PASSWORD, PASSWORD.encode().hex(), *secrets] if secret in text] == []


def test_clients_are_distinguished_by_id_and_software() -> None:
    clients = Clients()
    for name in CAPTURES:
        with open_capture(captured(name)) as capture:
            for exchange in capture:
                clients.add(exchange)
    found = [(each.client_id, each.software_name, each.software_version, len(each.connections)) for each in clients]
    librdkafka = ("confluent-kafka-python", "2.16.1-rdkafka-2.16.0")
    assert found == [
        ("adminclient-1", "apache-kafka-java", "4.4.0", 6),
        ("broker-1-txn-marker-sender", "apache-kafka-java", "4.4.0", 1),
        ("console-consumer", "apache-kafka-java", "4.4.0", 3),
        ("java-producer", "apache-kafka-java", "4.4.0", 2),
        ("kafka_messages", None, None, 1),
        ("py-plain", "kafka-python", "3.0.12", 7),
        ("py-scram-sha-256", "kafka-python", "3.0.12", 7),
        ("rd-client", *librdkafka, 8),
    ]
    assert all(not each.lacking for each in clients)
    produced = next(each for each in clients if each.client_id == "rd-client").to_object()["apis"]
    assert isinstance(produced, dict)
    assert produced["Produce"] == {"10": 2}


def test_exchange_repr_contains_api_version_and_addresses() -> None:
    with open_capture(captured("kafka-python.pcap")) as capture:
        printed = {exchange.number: repr(exchange) for exchange in capture}
    assert printed[2] == "<Exchange 2: SaslHandshake v1, 127.0.0.1:58208 to 127.0.0.1:39157>"
    assert printed[70] == "<Exchange 70: Produce v9, 127.0.0.1:58332 to 127.0.0.1:39157, no response>"
    assert max(map(len, printed.values())) < 200
