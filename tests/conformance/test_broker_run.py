"""Runs with the cluster of the test kit, and with brokers that are broken on purpose."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kafka_conformance.broker_case import BrokerCase, built
from kafka_conformance.broker_run import run_broker
from kafka_conformance.cluster import Address, BrokerError
from kafka_conformance.command import main
from kafka_conformance.result import Report, load
from kafka_messages.protocol import FrameReader, api
from kafka_messages_testkit import KafkaCluster

KNOWN = Path(__file__).parent / "testees" / "testkit.known"


def address_of(cluster: KafkaCluster) -> Address:
    host, _, port = cluster.bootstrap_servers.split(",")[0].rpartition(":")
    return host, int(port)


@pytest.mark.parametrize("brokers", [1, 2])
def test_the_cluster_of_the_test_kit_passes(brokers: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    with KafkaCluster(brokers) as cluster:
        options = ["--known-failures", str(KNOWN), "--json", str(report)]
        status = main(["broker", cluster.bootstrap_servers.split(",")[0], *options])
    found = load(report)
    assert [(each.id, each.problem) for each in found.failures] == []
    assert status == 0
    assert found.counts["passed"] > 280
    capsys.readouterr()


def case(*steps: dict[str, Any], **fields: Any) -> BrokerCase:
    row = {
        "id": "TEST.case",
        "class": "read",
        "rule": "The broker answers.",
        "source": "none",
        "steps": steps,
        **fields,
    }
    return built(BrokerCase, row, "test")


ASK: dict[str, Any] = {
    "send": {"api": "Metadata", "version": [1, 13], "message": {"topics": []}},
    "expect": {"topics": []},
}
CREATE: dict[str, Any] = {"class": "own", "setup": ["topic"]}


def run(address: Address, *cases: BrokerCase, **options: Any) -> Report:
    return run_broker(address, cases, **{"timeout": 0.5, **options})


def test_classes_of_cases() -> None:
    cases = [case(ASK), case(ASK, **CREATE), case(ASK, **{"class": "cluster"})]
    with KafkaCluster() as cluster:
        reports = [run(address_of(cluster), *cases, access=access) for access in ("read", "own", "cluster")]
    outcomes = [[each.outcome for each in report.results] for report in reports]
    assert outcomes == [["passed", "not run", "not run"], ["passed", "passed", "not run"], ["passed"] * 3]
    assert reports[0].results[1].problem == "the class of its requests is own"
    assert reports[0].notes == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"steps": [{**ASK, "send": {**ASK["send"], "connection": "$notLeader"}}]}, "needs a second broker"),
        ({"features": {"transaction.version": 9}}, "needs the feature transaction.version at level 9; finalized: 2"),
        ({"missing": "there is no request"}, "there is no request"),
        ({"steps": [{"send": {"api": "Vote", "version": 0}}]}, "needs Vote 0; announced: none"),
        ({"steps": [{"send": {"api": "Fetch", "version": [20, 30]}}]}, "needs Fetch 20 to 30; announced: 0 to 18"),
    ],
)
def test_cases_that_do_not_apply(fields: dict[str, Any], reason: str) -> None:
    with KafkaCluster() as cluster:
        report = run(address_of(cluster), case(**fields))
    (result,) = report.results
    assert result.outcome == "not run"
    announced = reason.partition(";")[0]
    assert result.problem.startswith(announced)


def test_other_addresses_fail() -> None:
    with KafkaCluster() as cluster:
        host, port = address_of(cluster)
        right = run((host, port), case(ASK), expected=[(host, port)])
        wrong = run((host, port), case(ASK, severity="kafka-quirk"), expected=[("proxy", 9092)])
    assert [each.outcome for each in right.results] == ["passed"]
    assert [(each.id, each.outcome, each.problem) for each in wrong.results] == [
        ("TEST.case", "failed", f"Metadata 13, brokers[0]: the address {host}:{port} is not expected"),
        (
            "METADATA.addresses-are-expected",
            "failed",
            f"Metadata 12, brokers[0]: the address {host}:{port} is not expected",
        ),
    ]


def test_an_address_counts_in_a_case_that_is_not_run() -> None:
    elsewhere = {**ASK, "send": {**ASK["send"], "connection": "$notLeader"}}
    with KafkaCluster() as cluster:
        reports = [run(address_of(cluster), case(ASK, elsewhere), expected=each) for each in ([], [("proxy", 9092)])]
    assert [report.results[0].outcome for report in reports] == ["not run", "failed"]


def test_a_host_that_is_no_name() -> None:
    with pytest.raises(BrokerError) as error:
        run(("a" * 64, 9092), case(ASK))
    assert "does not answer ApiVersions: version 3: cannot connect to aaa" in str(error.value)


def test_a_wrong_answer() -> None:
    wrong = {**ASK, "expect": {"topics": [{"name": "a"}]}}
    problem = "step 2, Metadata: topics: expected 1 elements, got []"
    with KafkaCluster() as cluster:
        report = run(
            address_of(cluster), *(case(ASK, wrong, severity=each) for each in ("error", "warning", "kafka-quirk"))
        )
    assert [(each.outcome, each.problem) for each in report.results] == [
        ("failed", problem),
        ("warning", problem),
        ("quirk", problem),
    ]
    assert len(report.results[0].exchanges) == 2
    assert all(each.request and each.response for each in report.results[0].exchanges)


def test_error_codes() -> None:
    unknown = {"send": {**ASK["send"], "message": {"topics": [{"name": "$topic"}]}}, "expect": {}}
    with KafkaCluster() as cluster:
        report = run(
            address_of(cluster), case({**unknown, "errors": [0]}), case({**unknown, "errors": [0, 3]}), case(unknown)
        )
    assert [each.outcome for each in report.results] == ["failed", "passed", "passed"]
    assert report.results[0].problem == "Metadata: error code 3, expected 0"


@pytest.fixture
def _sigint_as_in_a_terminal() -> Iterator[None]:
    """Shells start background processes with SIGINT ignored, and their child processes inherit this."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_sigint_as_in_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_topics_are_removed_after_a_signal(number: signal.Signals) -> None:
    def names(api: str) -> set[str]:
        """Return the topics of requests without an error."""
        found = [each for each in cluster.exchanges() if each.decoded.api.name == api and each.response is not None]
        done = [each for each in found if not getattr(each.request, "validate_only", False)]
        topics = [topic for each in done for topic in getattr(each.response, "topics", ()) or each.response.responses]
        return {topic.name for topic in topics if topic.error_code == 0}

    with KafkaCluster() as cluster:
        command = [sys.executable, "-m", "kafka_conformance", "broker", cluster.bootstrap_servers]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        ) as process:
            end = time.monotonic() + 30
            while not names("CreateTopics") and time.monotonic() < end:
                time.sleep(0.05)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        created, deleted = names("CreateTopics"), names("DeleteTopics")
    assert (process.returncode, errors) == (130, "kafka-conformance: interrupted\n")
    assert created
    assert created <= deleted


def test_addresses_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["broker", "localhost"])
    assert "expected HOST:PORT, got 'localhost'" in capsys.readouterr().err
    port = free_port()
    assert main(["broker", f"localhost:{port}"]) == 2
    assert f"localhost:{port} does not answer ApiVersions: version 3: cannot connect to" in capsys.readouterr().err


def free_port() -> int:
    with socket.create_server(("localhost", 0)) as server:
        port: int = server.getsockname()[1]
    return port


Answer = Callable[[socket.socket, bytes, bytes], None]
"""Writes to the connection in place of a right response; gets the request, and the right response."""


@contextmanager
def broken(answer: Answer, *apis: str) -> Iterator[Address]:
    """Serve a cluster with broken responses to some APIs."""
    keys = {api(each).key for each in apis}
    with KafkaCluster() as cluster, socket.create_server(("localhost", 0)) as server:
        threading.Thread(target=_accept, args=(server, address_of(cluster), keys, answer), daemon=True).start()
        yield "localhost", server.getsockname()[1]


def _accept(server: socket.socket, behind: Address, keys: set[int], answer: Answer) -> None:
    while True:
        try:
            accepted, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_relay, args=(accepted, behind, keys, answer), daemon=True).start()


def _relay(client: socket.socket, behind: Address, keys: set[int], answer: Answer) -> None:
    requests, responses = FrameReader(), FrameReader()
    with client, socket.create_connection(behind) as broker:
        try:
            while data := client.recv(1 << 16):
                requests.feed(data)
                while (request := requests.next_whole_frame()) is not None:
                    broker.sendall(request)
                    while (response := responses.next_whole_frame()) is None:
                        responses.feed(broker.recv(1 << 16))
                    if int.from_bytes(request[4:6]) in keys:
                        answer(client, request, response)
                    else:
                        client.sendall(response)
        except OSError:
            return


def close(client: socket.socket, request: bytes, response: bytes) -> None:
    client.shutdown(socket.SHUT_RDWR)


def close_early(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall(response[:10])
    client.shutdown(socket.SHUT_RDWR)


def hang(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall(response[:10])


def garbage(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def wrong_id(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall(response[:4] + b"\x00\x00\x03\xe7" + response[8:])


def short(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall((len(response) - 5).to_bytes(4) + response[4:-1])


def long(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall((len(response) - 3).to_bytes(4) + response[4:] + b"\0")


def twice(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall(response * 2)


def flood(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall(b"\x7f\xff\xff\xff")
    while True:
        client.sendall(bytes(1 << 16))


def slow_flood(client: socket.socket, request: bytes, response: bytes) -> None:
    client.sendall(b"\x03\xff\xff\xff")
    while True:
        client.sendall(bytes(1 << 8))
        time.sleep(0.01)


LATER = "API-VERSIONS.later"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (close, "DescribeCluster: the broker closed the connection"),
        (close_early, "DescribeCluster: the broker closed the connection after 10 bytes of a frame"),
        (hang, "DescribeCluster: no response within 0.5 s; 10 bytes of a frame arrived"),
        (garbage, "DescribeCluster: the response is not a frame: "),
        (wrong_id, "DescribeCluster: the response has the correlation id 999, the request 1"),
        (short, "DescribeCluster: the response cannot be read as DescribeCluster 2: "),
        (long, "DescribeCluster: the response cannot be read as DescribeCluster 2: "),
        (twice, " bytes arrived that no request asked for: "),
        (flood, "DescribeCluster: the response is not a frame: "),
        (slow_flood, "DescribeCluster: no response within 0.5 s; "),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_broken_brokers_fail_their_case_only(answer: Answer, problem: str) -> None:
    asked = {"send": {"api": "DescribeCluster", "version": [0, 2], "message": {}}, "expect": {}}
    started = time.monotonic()
    with broken(answer, "DescribeCluster") as address:
        report = run(address, case(ASK), case(asked), case(ASK, id=LATER))
    outcomes = [(each.id, each.outcome) for each in report.results]
    assert outcomes == [("TEST.case", "passed"), ("TEST.case", "failed"), (LATER, "passed")]
    assert problem in report.results[1].problem
    assert time.monotonic() - started < 5


def test_a_setup_that_fails() -> None:
    with broken(close, "CreateTopics") as address:
        report = run(address, case(ASK, **CREATE))
    assert [each.problem for each in report.results] == ["setup, topic: the broker closed the connection"]


def test_a_broker_that_is_silent_is_asked_in_some_cases_only() -> None:
    asked = {"send": {"api": "DescribeCluster", "version": [0, 2], "message": {}}, "expect": {}}
    with broken(hang, "DescribeCluster") as address:
        report = run(address, *[case(asked)] * 24, timeout=0.02)
    assert report.counts == {"failed": 20, "not run": 4}
    assert report.results[-1].problem == "the broker did not respond in 20 cases in a row"


@pytest.mark.parametrize("answer", [close, hang, garbage, wrong_id], ids=lambda each: each.__name__)
def test_a_broker_without_versions_is_refused(answer: Answer) -> None:
    with broken(answer, "ApiVersions") as address, pytest.raises(BrokerError) as error:
        run(address, case(ASK))
    assert str(error.value).startswith(f"localhost:{address[1]} does not answer ApiVersions: version 3: ")


def test_a_broker_without_metadata_is_tested() -> None:
    raw = {
        "raw": "0000000e001200000000001600046b70793a",
        "as": {"api": "ApiVersions", "version": 0},
        "correlationId": 22,
    }
    with broken(close, "Metadata") as address:
        report = run(address, case({"send": raw, "expect": {"errorCode": 0}}))
    assert [each.outcome for each in report.results] == ["passed"]
    assert report.notes == ["the brokers are unknown: Metadata: the broker closed the connection"]
