"""A client that passes all cases of the client mode, and variants that break one rule each."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka_conformance.case import selected
from kafka_conformance.client_case import client_cases
from kafka_conformance.client_judge_groups import group_requests_go_to_the_coordinator
from kafka_conformance.client_run import run_client
from kafka_conformance.command import main
from kafka_conformance.pipe import ProgramError
from kafka_conformance.result import Report
from kafka_messages import ApiVersionsRequest, FindCoordinatorRequest, HeartbeatRequest, OffsetCommitRequest
from kafka_messages.aio import connect
from kafka_messages.protocol import ErrorCode, decode_request, decode_response
from kafka_messages_testkit import KafkaCluster

FORKS = Path(__file__).parent / "clients" / "forks.py"
# Problems by broken rule and case.
BROKEN: dict[str, dict[str, str]] = {
    "another sequence for a retry": {
        "KIP-98.retry-repeats-the-batch": (
            "ProduceRequest 13: the batch of partition 0 failed with NOT_ENOUGH_REPLICAS, and was " "not repeated"
        ),
    },
    "checksum": {
        "TASK.produce": "the command ended with status 1: produce: CORRUPT_MESSAGE",
        "TASK.transaction": "the command ended with status 1: transaction: CORRUPT_MESSAGE",
        "PRODUCE.batches-are-valid": (
            "ProduceRequest 13: RecordBatch v2: batches[0]: batch at byte 0: checksum mismatch: stored "
            "0x4017795e, computed 0xb27cfa5d over 72 bytes; "
            "the command ended with status 1: produce: CORRUPT_MESSAGE"
        ),
    },
    "compacted tail": {
        "FETCH.compacted-tail-advances-the-offset": "FetchRequest 18 starts at offset 3, expected 4",
    },
    "control batch": {
        "FETCH.control-batch-advances-the-offset": "the client stopped after 2 records, expected 3",
    },
    "coordinator": {
        "FIND-COORDINATOR.client-follows-the-coordinator": (
            "JoinGroupRequest 9 was sent without looking up the coordinator; "
            "the command ended with status 1: group: NOT_COORDINATOR"
        ),
    },
    "old coordinator": {
        "FIND-COORDINATOR.client-follows-the-coordinator": (
            "OffsetCommitRequest 10 was sent without looking up the coordinator; "
            "the coordinator was not looked up after NOT_COORDINATOR; "
            "the command ended with status 1: group: not committed"
        ),
    },
    "correlation id": {
        "HEADER.correlation-ids-differ": (
            "MetadataRequest 13 has the correlation id 0 of the request before it; "
            "FindCoordinatorRequest 6 has the correlation id 0 of the request before it; "
            "JoinGroupRequest 9 has the correlation id 0 of the request before it; "
            "SyncGroupRequest 5 has the correlation id 0 of the request before it"
        ),
    },
    "empty batch": {
        "FETCH.empty-batch-advances-the-offset": (
            "FetchRequest 18 starts at offset 1, expected 5; " "the command did not end within 2 s"
        ),
    },
    "fencing": {
        "KIP-98.nothing-after-fencing": (
            "ProduceRequest 11 was sent after PRODUCER_FENCED; " "the command ended with status 0"
        ),
    },
    "Fetch 12": {
        "API-VERSIONS.requests-stay-in-the-announced-ranges": (
            "FetchRequest 12 was sent, but node 1 announced versions 0 to 10"
        ),
    },
    "first offset": {
        "TASK.consume": "the command ended with status 1: consume: no first offset",
        "TASK.group": "the command ended with status 1: group: no first offset",
    },
    "header version": {
        "HEADER.requests-end-with-their-body": "OffsetCommitRequest 10 has 1 bytes after its body",
    },
    "highest versions": {
        "KIP-890.new-versions-need-the-feature": (
            "ProduceRequest 13 needs transaction.version 2; " "the highest version without is 11"
        ),
    },
    "last offset": {
        "OFFSET-COMMIT.client-commits-the-next-offset": "the last committed offsets are {0: 2}, expected {0: 3}",
    },
    "last offset delta": {
        "TASK.produce": "the command ended with status 1: produce: INVALID_RECORD",
        "PRODUCE.batches-are-valid": (
            "ProduceRequest 13: the last offset delta of 1 records is 1; "
            "the command ended with status 1: produce: INVALID_RECORD"
        ),
    },
    "legacy format": {
        "FETCH.legacy-format-in-a-flexible-version": (
            "the client stopped after 1 records, expected 3; " "the command ended with status 1: consume: format 1"
        ),
    },
    "long varint": {
        "FRAME.requests-are-canonical": "OffsetCommitRequest 10: byte 129 differs: Kafka writes 00, got 80 00",
    },
    "member id": {
        "TASK.group": "the command ended with status 1: group: not joined",
        "KIP-394.client-uses-the-member-id": (
            "JoinGroupRequest 9 has the member id '', expected 'conformance-…'; "
            "JoinGroupRequest 9 has the member id '', expected 'conformance-…'; "
            "the command ended with status 1: group: not joined"
        ),
    },
    "null is empty": {
        "PRODUCE.tombstones-and-empty-values": "the value of k2 must be None, got b''",
    },
    "null records": {
        "FETCH.null-records-are-empty": (
            "the client stopped after 0 records, expected 3; the command ended with status 1: consume: null records"
        ),
    },
    "old leader": {
        "METADATA.client-follows-the-leader": (
            "6 Produce requests got NOT_LEADER_OR_FOLLOWER; "
            "the records were not sent to the new leader; "
            "the command ended with status 1: produce: no more attempts"
        ),
    },
    "one table for all brokers": {
        "API-VERSIONS.ranges-belong-to-a-connection": (
            "ListOffsetsRequest 11 was sent before the versions of node 2 were known; "
            "FetchRequest 18 was sent before the versions of node 2 were known"
        ),
        "API-VERSIONS.asked-again-after-a-reconnect": "FetchRequest 18 was sent before the versions of node 1 were known",
    },
    "order of tags": {
        "FRAME.requests-are-canonical": (
            "OffsetCommitRequest 10: byte 130 differs: Kafka writes 08 01 62 09 01 61," " got 09 01 61 08 01 62"
        ),
    },
    "other producer id": {
        "TASK.transaction": "the command ended with status 1: transaction: INVALID_PRODUCER_ID_MAPPING",
        "KIP-98.sequences-start-at-0-and-have-no-gap": (
            "ProduceRequest 13: no response has producer id and epoch (1, 0); "
            "the command ended with status 1: transaction: INVALID_PRODUCER_ID_MAPPING"
        ),
    },
    "partial batch": {
        "FETCH.partial-last-batch-is-skipped": (
            "the client stopped after 1 records, expected 3; "
            "the command ended with status 1: consume: 61 bytes are left"
        ),
    },
    "partitions are not added": {
        "ADD-PARTITIONS-TO-TXN.new-versions-are-for-brokers": (
            "the command ended with status 1: transaction: TRANSACTION_ABORTABLE"
        ),
        "KIP-890.new-versions-need-the-feature": "the command ended with status 1: transaction: TRANSACTION_ABORTABLE",
        "KIP-98.nothing-after-fencing": "no request got PRODUCER_FENCED",
        "KIP-98.partitions-before-records": (
            "ProduceRequest 11: partition 0 is not in the transaction; "
            "the command ended with status 1: transaction: TRANSACTION_ABORTABLE"
        ),
    },
    "refusal is the table": {
        "KIP-511.client-asks-again-with-the-named-version": (
            "the command ended with status 1: kafka_messages.errors.UnsupportedVersionError: Metadata: no "
            "common version: the broker does not support this API, this package supports versions 0 to 13"
        ),
        "KIP-511.client-falls-back-to-version-0": (
            "the command ended with status 1: kafka_messages.errors.UnsupportedVersionError: Metadata: no "
            "common version: the broker does not support this API, this package supports versions 0 to 13"
        ),
    },
    "same version again": {
        "KIP-511.client-asks-again-with-the-named-version": (
            "ApiVersionsRequest 4 follows UNSUPPORTED_VERSION; "
            "expected ApiVersionsRequest 0 to 2; "
            "the command ended with status 1: kafka_messages.errors.UnsupportedVersionError: Metadata: no "
            "common version: the broker does not support this API, this package supports versions 0 to 13"
        ),
        "KIP-511.client-falls-back-to-version-0": (
            "ApiVersionsRequest 4 follows UNSUPPORTED_VERSION; "
            "expected ApiVersionsRequest 0 to 2; "
            "the command ended with status 1: kafka_messages.errors.UnsupportedVersionError: Metadata: no "
            "common version: the broker does not support this API, this package supports versions 0 to 13"
        ),
    },
    "sequences of batches": {
        "TASK.transaction": "the command ended with status 1: transaction: OUT_OF_ORDER_SEQUENCE_NUMBER",
        "KIP-98.sequences-start-at-0-and-have-no-gap": (
            "ProduceRequest 13: the sequence of partition 0 is 1, expected 2; "
            "the command ended with status 1: transaction: OUT_OF_ORDER_SEQUENCE_NUMBER"
        ),
    },
    "software name": {
        "KIP-511.client-software-name-is-valid": (
            "ApiVersionsRequest 4: client_software_name 'a/b' does not match "
            "[a-zA-Z0-9](?:[a-zA-Z0-9\\-.]*[a-zA-Z0-9])?"
        ),
    },
    "table of an address is kept": {
        "API-VERSIONS.asked-again-after-a-reconnect": "FetchRequest 18 was sent before the versions of node 1 were known",
    },
    "throttle time": {
        "KIP-219.throttled-client-waits": "ProduceRequest 13 was sent … ms after throttle_time_ms 500",
    },
    "transactional bit": {
        "TASK.transaction": "the command ended with status 1: transaction: INVALID_TXN_STATE",
        "KIP-98.partitions-before-records": "ProduceRequest 11: a batch is not transactional",
    },
    "unknown APIs": {
        "API-VERSIONS.unknown-apis-are-ignored": (
            "the command ended with status 1: kafka_messages.protocol._errors.UnknownApiError: unknown API "
            "key 9999; "
            "known keys are 0 to 94"
        ),
    },
    "unknown member": {
        "JOIN-GROUP.client-joins-anew-after-unknown-member": (
            "no JoinGroup follows UNKNOWN_MEMBER_ID; " "the command ended with status 1: group: not committed"
        ),
    },
    "versions of brokers": {
        "ADD-PARTITIONS-TO-TXN.new-versions-are-for-brokers": (
            "AddPartitionsToTxnRequest 5 is for brokers; the highest version of clients is 3"
        ),
    },
    "unknown tags": {
        "TAGS.client-skips-unknown-tags": "the command ended with status 1: group: a section of tagged fields is not empty",
    },
}

# Reports of clients that broke a rule.
REPORTS = {
    "null is empty": "platformatic/kafka#217",
    "refusal is the table": "twmb/franz-go#1011",
    "Fetch 12": "confluentinc/librdkafka#4870",
    "unknown tags": "platformatic/kafka#313",
    "order of tags": "aio-libs/aiokafka#1139",
}


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Command of the client, without the rule to break."""
    path = str(tmp_path_factory.mktemp("forks") / "socket")
    server = subprocess.Popen([sys.executable, str(FORKS), "serve", path], stdout=subprocess.PIPE)
    with server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield [sys.executable, "-I", "-S", str(FORKS), path]
        server.kill()


def run(command: list[str], *only: str, timeout: float = 20) -> Report:
    return run_client(command, selected(client_cases(), only), timeout)


def problems(report: Report) -> dict[str, str]:
    """Return the problems by case, without random ids and times."""
    found = {each.id: each.problem for each in report.results if each.outcome in ("failed", "warning")}
    return {
        id: re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<= sent )\d+(?= ms)|(?<=1', )\d+", "…", text)
        for id, text in found.items()
    }


def test_the_client_passes_all_cases(forks: list[str]) -> None:
    report = run([*forks, "nothing"])
    assert problems(report) == {}
    assert report.counts == {"passed": 35}


def test_a_third_client_that_sends_requests_before_responses_passes_all_cases(forks: list[str]) -> None:
    report = run([*forks, "third"])
    assert problems(report) == {
        "ADD-PARTITIONS-TO-TXN.new-versions-are-for-brokers": (
            "AddPartitionsToTxnRequest 5 is for brokers; the highest version of clients is 3"
        ),
    }
    assert report.counts == {"warning": 1, "passed": 34}


def test_a_second_client_that_works_in_other_ways_passes_all_cases(forks: list[str]) -> None:
    report = run(forks)
    assert problems(report) == {
        "ADD-PARTITIONS-TO-TXN.new-versions-are-for-brokers": (
            "AddPartitionsToTxnRequest 5 is for brokers; the highest version of clients is 3"
        ),
    }
    assert report.counts == {"warning": 1, "passed": 34}


GROUPS_ONLY = "import os, sys; sys.argv[-2] == 'consume' and sys.exit(77); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (["nothing"], {}),
        (["control batch"], BROKEN["control batch"]),
        (["compacted tail"], BROKEN["compacted tail"]),
    ],
)
def test_a_group_shows_the_fetch_cases_of_a_client_that_has_groups_only(
    forks: list[str], broken: list[str], expected: dict[str, str]
) -> None:
    report = run([sys.executable, "-c", GROUPS_ONLY, *forks, *broken], "TASK.consume", "FETCH.co*")
    assert problems(report) == expected
    assert [each.id for each in report.results if each.outcome == "not run"] == ["TASK.consume"]


def test_a_group_that_never_fetches_is_not_run() -> None:
    program = "import sys; sys.exit(print('old broker') or (77 if sys.argv[1] == 'consume' else 1))"
    [result] = run([sys.executable, "-c", program], "FETCH.control-batch-advances-the-offset").results
    assert (result.outcome, result.problem) == ("not run", "old broker")


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_rule_fails_its_cases(forks: list[str], broken: str) -> None:
    expected = BROKEN[broken]
    timeout = 2 if any("within" in each for each in expected.values()) else 20
    assert problems(run([*forks, broken], *expected, timeout=timeout)) == expected


@pytest.mark.nightly
@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_rule_fails_no_other_case(forks: list[str], broken: str) -> None:
    assert list(problems(run([*forks, broken], timeout=10))) == list(BROKEN[broken])


def test_each_case_has_a_broken_rule() -> None:
    failed = {case for cases in BROKEN.values() for case in cases}
    assert failed == {case.id for case in client_cases()}


def test_a_failure_has_the_exchange(forks: list[str]) -> None:
    [result] = run([*forks, "software name"], "KIP-511.client-software-name-is-valid").results
    [sent] = result.exchanges
    request = decode_request(bytes.fromhex(sent.request)[4:])
    assert isinstance(request.message, ApiVersionsRequest)
    response = decode_response(bytes.fromhex(sent.response)[4:], type(request.message), request.version)
    assert (request.message.client_software_name, response.message.error_code) == ("a/b", ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import time; time.sleep(60)", "the command did not end within 1 s"),
        ("raise SystemExit(3)", "the command ended with status 3"),
        ("print('x' * 10**7); raise SystemExit('out of paper')", "the command ended with status 1: out of paper"),
        ("import os; os.kill(os.getpid(), 9)", "the command ended with status -9"),
        (
            "import socket, sys; s = socket.create_connection(sys.argv[2].split(':')); "
            "s.send(b'GET / HTTP/1.1'); s.recv(9)",
            "a request was refused: the frame at offset 0 has 1195725856 bytes, but at most 104857600 are allowed; "
            "this looks like an HTTP/1 request (connection of ('127.0.0.1', …)); "
            "the command ended with status 0 without a Produce request",
        ),
        (
            "import subprocess; subprocess.Popen(['sleep', '60']); print('started')",
            "the command ended with status 0 without a Produce request",
        ),
    ],
)
def test_a_bad_command_fails_its_case(program: str, problem: str) -> None:
    begin = time.monotonic()
    report = run([sys.executable, "-c", program], "TASK.produce", "KIP-98.nothing-after-fencing", timeout=1)
    assert problems(report)["TASK.produce"] == problem
    assert time.monotonic() - begin < 10


def test_a_crash_is_quoted_and_the_report_has_all_of_its_standard_error() -> None:
    program = "print('ready'); raise ExceptionGroup('several', [ValueError('bad')])"
    [result] = run([sys.executable, "-c", program], "TASK.produce").results
    assert result.problem == "the command ended with status 1: ValueError: bad"
    assert result.stderr.splitlines()[-3:] == [
        "  +-+---------------- 1 ----------------",
        "    | ValueError: bad",
        "    +------------------------------------",
    ]


def test_a_request_that_was_on_the_way_is_no_violation() -> None:
    """One request may leave before the client reads a response, and heartbeats go on; a second one may not leave."""
    commit = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=1, member_id="m")
    commit.topics.append(OffsetCommitRequest.OffsetCommitRequestTopic(name="t"))
    part = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    commit.topics[0].partitions.append(part)
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")

    async def play(cluster: KafkaCluster) -> None:
        host, _, port = cluster.bootstrap_servers.split(",")[0].rpartition(":")
        async with await connect(host, int(port)) as broker:
            await broker.request(FindCoordinatorRequest(coordinator_keys=["g"]))
            await asyncio.to_thread(cluster.move_coordinator, "g", 2)
            await asyncio.gather(broker.request(commit, version=8), broker.request(beat))
            await broker.request(beat)
            await broker.request(commit, version=8)
            assert problems_of(cluster) == ["the coordinator was not looked up after NOT_COORDINATOR"]
            await broker.request(commit, version=8)
            await broker.request(FindCoordinatorRequest(coordinator_keys=["g"]))
            await broker.request(beat)
            assert len(problems_of(cluster)) == 1
            await broker.request(beat)

    with KafkaCluster(2, topics={"t": 1}) as cluster:
        cluster.move_coordinator("g", 1)
        asyncio.run(play(cluster))
        assert problems_of(cluster) == [
            "OffsetCommitRequest 8 was sent without looking up the coordinator",
            "HeartbeatRequest 4 was sent to node 1, not to 2",
        ]


def problems_of(cluster: KafkaCluster) -> list[str]:
    return [each.problem for each in group_requests_go_to_the_coordinator(cluster.exchanges())]


def test_a_command_that_lacks_a_task_is_not_run() -> None:
    program = "import sys; sys.exit(print('no transactions') or 77 if sys.argv[1] == 'transaction' else 1)"
    report = run([sys.executable, "-c", program], "TASK.*")
    assert [(each.id, each.outcome, each.problem) for each in report.results] == [
        ("TASK.produce", "failed", "the command ended with status 1"),
        ("TASK.consume", "failed", "the command ended with status 1"),
        ("TASK.group", "failed", "the command ended with status 1"),
        ("TASK.transaction", "not run", "no transactions"),
    ]


def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(ProgramError) as error:
        run(["no-such-program"])
    assert str(error.value) == "cannot start no-such-program: No such file or directory"


def test_the_command(forks: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    only = ["--only", "PRODUCE.*", "--name", "ours"]
    assert main(["client", *only, "--", *forks, "nothing"]) == 0
    assert capsys.readouterr().out == "ours: 2 passed\n"
    assert main(["client", *only, "--", *forks, "null is empty"]) == 1
    assert capsys.readouterr().out.splitlines()[:4] == [
        "PRODUCE.tombstones-and-empty-values: failed",
        "  rule    A null value is written as length -1, and an empty value as length 0.",
        "  source  DefaultRecord",
        "  problem the value of k2 must be None, got b''",
    ]
    assert main(["show", "PRODUCE.tombstones-and-empty-values"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "PRODUCE.tombstones-and-empty-values",
        "A null value is written as length -1, and an empty value as length 0.",
        "",
        "mode      client",
        "severity  error",
        "source    DefaultRecord",
        "bug       platformatic/kafka#217",
        "task      produce",
        "server    Kafka of the newest release",
        "ends      with success",
    ]
