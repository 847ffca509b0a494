"""Folders, index files, checkpoints, other files and gzip files in ``log``; aborted records, control records, names."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from kafka_messages import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    GroupMetadataKey,
    GroupMetadataValue,
    ProducerSnapshot,
)
from kafka_messages.internal_topics import write_coordinator_record, write_versioned
from kafka_records import Record, write_batch, write_control_batch
from kafka_records.crc import checksum

from kafka_messages_tools.logs.files import AbortedBatches
from tests.support.command import PassInput, RunCommand, rows
from tests.support.pages import ROOT

LOGS = ROOT / "examples" / "cluster" / "logs"
PAYMENTS, METADATA = LOGS / "payments-0", LOGS / "__cluster_metadata-0"
BASE = "00000000000000000100"


def write(folder: Path, name: str, data: bytes) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return str(folder / name)


def batch(offset: int, producer: int = -1, *, transactional: bool = False) -> bytes:
    more: dict[str, Any] = {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0} if producer >= 0 else {}
    return write_batch([Record(offset, 5, b"k", b"v")], base_offset=offset, is_transactional=transactional, **more)


def test_folder_is_read_in_order_and_other_files_are_named(run_command: RunCommand, tmp_path: Path) -> None:
    for number, name in ((10, "a-0"), (0, "a-0"), (3, "b-0")):
        write(tmp_path / "logs" / name, f"{number:020}.log", batch(number))
    write(tmp_path / "logs" / "b-0", f"{9:020}.log.gz", gzip.compress(batch(9), mtime=0))
    write(tmp_path / "logs" / "b-0", f"{3:020}.index", b"")
    write(tmp_path / "logs", "meta.properties", b"node.id=1\n")
    folder = str(tmp_path / "logs")
    status, out, err = run_command("log", folder, "--json")
    assert (status, [row["offset"] for row in rows(out)]) == (0, [0, 10, 3, 9])
    assert [row["file"] for row in rows(out)][2] == str(tmp_path / "logs" / "b-0" / f"{3:020}.log")
    assert err == (
        f"note: {folder}: 4 files with records; 2 other files (.index, .properties) not printed: "
        "name files to print them\n"
    )
    for number in range(300):
        write(tmp_path / "logs", f"x.s{number:03}", b"")
    assert run_command("log", folder)[2] == (
        f"note: {folder}: 4 files with records; 302 other files (.index, .properties, .s000, .s001, .s002, .s003, .s004, "
        ".s005, and 294 more) not printed: name files to print them\n"
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run_command("log", str(empty)) == (
        1,
        "",
        f"note: {empty}: 0 files with records; 0 other files not printed: name files to print them\n",
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_named_pipes_in_a_folder_are_not_opened(run_command: RunCommand, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{0:020}.log")
    path = write(tmp_path, f"{1:020}.log", batch(1))
    note = f"note: {tmp_path}/: 1 file with records; 1 other file (.log) not printed: name files to print them\n"
    status, out, err = run_command("log", f"{tmp_path}/", "--json")
    assert (status, [row["file"] for row in rows(out)], err) == (0, [path], note)


@pytest.mark.parametrize(
    ("name", "data", "lines"),
    [
        (
            f"{BASE}.index",
            pack(">iiii", 4, 70, 9, 140) + bytes(16),
            ["offset: 104 position: 70", "offset: 109 position: 140"],
        ),
        ("copy.index", pack(">ii", 4, 70), ["relative_offset: 4 position: 70"]),
        (f"{BASE}.timeindex.deleted", pack(">qi", 1000, 4), ["timestamp: 1000 offset: 104"]),
        (
            f"{BASE}.txnindex",
            pack(">hqqqq", 0, 7, 102, 105, 106),
            ["version: 0 producer_id: 7 first_offset: 102 last_offset: 105 last_stable_offset: 106"],
        ),
        (f"{BASE}.index", b"", []),
        (
            "leader-epoch-checkpoint",
            b"0\n2\n0 0\n7 43\n",
            ["leader_epoch: 0 start_offset: 0", "leader_epoch: 7 start_offset: 43"],
        ),
        ("replication-offset-checkpoint", b"0\n1\norders 1 30\n", ["topic: orders partition: 1 offset: 30"]),
        ("recovery-point-offset-checkpoint", b"0\n1\norders 1 30\n", ["topic: orders partition: 1 offset: 30"]),
        ("log-start-offset-checkpoint", b"0\n0\n", []),
        ("log-start-offset-checkpoint.tmp", b"0\n1\no 0 1\n", ["topic: o partition: 0 offset: 1"]),
        ("log-start-offset-checkpoint.bak", b"0\n1\no 0 1\n", ["topic: o partition: 0 offset: 1"]),
        ("cleaner-offset-checkpoint", b"0\n1\no 0 1\n", ["topic: o partition: 0 offset: 1"]),
        ("partition.metadata", b"version: 0\ntopic_id: x", ["about: the id of the topic"]),
        ("meta.properties", b"node.id=1\n", ["about: the ids of the cluster, the node and the log directory"]),
        ("quorum-state", b"{}", ["about: the leader and the vote of a KRaft quorum"]),
        (".lock", b"", ["about: the lock of a broker that uses the directory"]),
        (f"{BASE}.log", b"", ["about: an empty file"]),
    ],
)
def test_files_of_a_log_directory_are_printed(
    name: str, data: bytes, lines: list[str], run_command: RunCommand, tmp_path: Path
) -> None:
    assert run_command("log", write(tmp_path, name, data)) == (0, "".join(f"{line}\n" for line in lines), "")
    assert run_command("log", write(tmp_path, f"{name}.gz", gzip.compress(data, mtime=0)))[1].splitlines() == lines


def test_producer_snapshot_is_printed(run_command: RunCommand, tmp_path: Path) -> None:
    entry = ProducerSnapshot.ProducerEntry(producer_id=7, epoch=1, last_sequence=2, last_offset=99, timestamp=5)
    body = ProducerSnapshot(producer_entries=[entry]).write(1)[4:]
    path = write(tmp_path, f"{BASE}.snapshot", pack(">hI", 1, checksum()(body)) + body)
    assert run_command("log", path) == (
        0,
        "producer_id: 7 producer_epoch: 1 last_sequence: 2 last_offset: 99 offset_delta: 0 last_timestamp: 5 "
        "coordinator_epoch: 0 current_txn_first_offset: 0\n",
        "",
    )
    assert rows(run_command("log", path, "--json")[1])[0]["last_offset"] == 99


@pytest.mark.parametrize(
    ("name", "data", "out", "problem"),
    [
        (f"{BASE}.index", pack(">iii", 4, 70, 9), "offset: 104 position: 70\n", "12 bytes are not a multiple of 8"),
        (
            f"{BASE}.index",
            pack(">iiii", 4, 70, 3, 80),
            "offset: 104 position: 70\n",
            "entry 1 at byte 8 is not in order: offset 3, at least 4 expected",
        ),
        (f"{BASE}.snapshot", b"", "", "0 bytes are too few for a snapshot"),
        ("cleaner-offset-checkpoint", b"1\n0\n", "", "line 1 is '1'; expected the format version 0"),
        ("cleaner-offset-checkpoint", b"0\n1\no\xff 0 1\n", "", "at byte 5: not UTF-8 text"),
        (
            "cleaner-offset-checkpoint.gz",
            gzip.compress(b"a 0 1\n" * (3 << 20), mtime=0),
            "",
            "more than 16777216 bytes, the maximum of a snapshot or checkpoint",
        ),
        ("passwd", b"root:x:0:0:root:/root:/bin/bash\n", "", "this is a text file, not a log segment"),
        ("x.log", b"INFO started\n", "", "this is a text file, not a log segment"),
        (
            "program",
            b"\x7fELF\2\1\1" + bytes(100),
            "",
            "this is not a log segment: at byte 0: size of 12 bytes, not between 26 and 134217728 (max_batch_bytes)",
        ),
        (
            f"{BASE}.log",
            gzip.compress(batch(0), mtime=0)[:-9],
            None,
            "the gzip data is damaged: Compressed file ended before the end-of-stream marker was reached",
        ),
        (f"{BASE}.log", b"\x1f\x8b" + bytes(30), "", "the gzip data is damaged: Unknown compression method"),
    ],
)
def test_damaged_and_unrelated_files_are_named(
    name: str, data: bytes, out: str | None, problem: str, run_command: RunCommand, tmp_path: Path
) -> None:
    found = run_command("log", write(tmp_path, name, data))
    assert (found[0], found[2]) == (1, f"kafka-messages: {problem}\n")
    assert out is None or found[1] == out


def test_records_of_aborted_transactions_are_marked(run_command: RunCommand) -> None:
    segment = str(PAYMENTS / f"{0:020}.log")
    found = rows(run_command("log", segment, "--json")[1])
    assert [row["offset"] for row in found if row.get("aborted")] == [9, 10, 16, 18]
    batches = rows(run_command("log", "--batches", segment, "--json")[1])
    assert [row["base_offset"] for row in batches if row.get("aborted")] == [9, 16, 18]


def test_marker_in_a_later_file_of_the_folder_marks_too(run_command: RunCommand, tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    first = batch(0, 7, transactional=True) + batch(1, 8, transactional=True) + batch(2)
    commit, abort = (
        write_control_batch(kind, offset=offset, producer_id=producer, producer_epoch=0)
        for kind, offset, producer in (("COMMIT", 3, 7), ("ABORT", 4, 8))
    )
    one = write(folder, f"{0:020}.log", first)
    two = write(folder, f"{3:020}.log.gz", gzip.compress(commit + abort, mtime=0))
    other = write(tmp_path / "orders-1", f"{0:020}.log", first)
    for words, aborted in (((one, two), [1]), ((folder,), [1]), ((one,), []), ((one, other), [])):
        found = rows(run_command("log", *map(str, words), "--json")[1])
        assert [row["offset"] for row in found if row.get("aborted")] == aborted, words


def test_markers_are_searched_only_for_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_records import read_batches

    monkeypatch.setattr("kafka_messages_tools.logs.files.opened", None)
    path = write(tmp_path, "x.log", batch(0, 7))
    assert not AbortedBatches([path]).has(next(read_batches(batch(0, 7))), path)


def test_control_records_of_kraft_are_decoded(run_command: RunCommand) -> None:
    snapshot = METADATA / f"{38:020}-0000000001.checkpoint"
    voter = {
        "voterId": 1,
        "voterDirectoryId": "3PLnUou6Rsa0pgqoqM2wMA",
        "endpoints": [{"name": "CONTROLLER", "host": "localhost", "port": 42839}],
        "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
    }
    found = [row for row in rows(run_command("log", str(snapshot), "--json")[1]) if "control" in row]
    assert [(row["control"], row["value"]) for row in found] == [
        ("SNAPSHOT_HEADER", {"version": 0, "lastContainedLogTimestamp": 1795261722332}),
        ("KRAFT_VERSION", {"version": 0, "kRaftVersion": 1}),
        ("KRAFT_VOTERS", {"version": 0, "voters": [voter]}),
        ("SNAPSHOT_FOOTER", {"version": 0}),
    ]
    leader = rows(run_command("log", str(METADATA / f"{0:020}.log"), "--json")[1])[0]
    voters = [{"voterId": 1}]
    expected = {"version": 0, "leaderId": 1, "voters": voters, "grantingVoters": voters}
    assert (leader["control"], leader["value"]) == ("LEADER_CHANGE", expected)


def test_names_are_beside_numbers(run_command: RunCommand) -> None:
    path = str(LOGS / "__transaction_state-0" / f"{0:020}.log")
    value = rows(run_command("log", path, "--json")[1])[0]["value"]
    assert list(value)[3:6] == ["transactionTimeoutMs", "transactionStatus", "transactionStatusName"]
    assert (value["transactionStatus"], value["transactionStatusName"]) == (0, "EMPTY")


def test_members_of_classic_consumers_are_decoded(run_command: RunCommand, tmp_path: Path) -> None:
    subscription = write_versioned(ConsumerProtocolSubscription(topics=["orders"]), 1)
    assigned = ConsumerProtocolAssignment.TopicPartition(topic="orders", partitions=[0, 2])
    assignment = write_versioned(ConsumerProtocolAssignment(assigned_partitions=[assigned]), 1)

    def members(kind: str, sent: bytes, got: bytes) -> dict[str, object]:
        member = GroupMetadataValue.MemberMetadata(member_id="m", subscription=sent, assignment=got)
        value = GroupMetadataValue(protocol_type=kind, members=[member])
        key, data = write_coordinator_record(GroupMetadataKey(group="g"), value, 3)
        path = write(tmp_path / "__consumer_offsets-0", "0.log", write_batch([Record(key=key, value=data)]))
        found: dict[str, object] = rows(run_command("log", path, "--json")[1])[0]["value"]["members"][0]
        return found

    found = members("consumer", subscription, assignment)
    assert found["subscription"] == {"version": 1, "topics": ["orders"], "userData": None, "ownedPartitions": []}
    assert found["assignment"] == {
        "version": 1,
        "assignedPartitions": [{"topic": "orders", "partitions": [0, 2]}],
        "userData": None,
    }
    assert members("consumer", b"\0\1x", b"")["subscription"] == "AAF4"
    assert members("connect", subscription, b"")["subscription"] == "AAEAAAABAAZvcmRlcnP/////AAAAAA=="


def test_record_without_a_key_in_a_coordinator_log_is_named(run_command: RunCommand, tmp_path: Path) -> None:
    path = write(tmp_path / "__consumer_offsets-0", "0.log", write_batch([Record(value=b"v")]))
    status, out, _ = run_command("log", path, "--json")
    assert (status, rows(out)[0]["error"]) == (1, "the record has no key")


def test_gzip_file_on_standard_input(run_command: RunCommand, pass_input: PassInput) -> None:
    pass_input(gzip.compress(batch(4), mtime=0))
    assert rows(run_command("log", "-", "--json")[1])[0]["offset"] == 4
