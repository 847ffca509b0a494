"""Patterns compared with whole responses."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from kafka_conformance.pattern import mismatch, replaced, value_at
from kafka_messages import FetchResponse
from kafka_messages.json import to_json
from kafka_records import Record, read_batches, write_batch, write_control_batch

RECORDS = write_batch([Record(timestamp=5, key=b"k", value=None, headers=(("h", b"1"), ("h", None)))], base_offset=3)
PARTITION = FetchResponse.PartitionData(partition_index=0, high_watermark=4, last_stable_offset=4, records=RECORDS)
EMPTY = FetchResponse.PartitionData(partition_index=1, high_watermark=0, last_stable_offset=0, records=b"")
RESPONSE = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic="t", partitions=[PARTITION, EMPTY])])
JSON = to_json(RESPONSE, 12)
VARIABLES = {"topic": "t", "end": 4}


def problem(pattern: Any) -> str | None:
    return mismatch(pattern, JSON, VARIABLES)


def of_partitions(pattern: Any) -> dict[str, Any]:
    return {"responses": [{"topic": "$topic", "partitions": pattern}]}


RECORD = {
    "offset": 3,
    "timestamp": 5,
    "key": "k",
    "value": None,
    "headers": [{"key": "h", "value": "1"}, {"key": "h", "value": None}],
}


@pytest.mark.parametrize(
    "pattern",
    [
        {},
        JSON,
        {"errorCode": 0, "responses": [{"topic": "$topic"}]},
        of_partitions([{"highWatermark": "$end"}, {"records": ""}]),
        of_partitions({"any": {"partitionIndex": 1, "records": ""}}),
        of_partitions({"none": {"partitionIndex": 2}}),
        of_partitions({"each": {"errorCode": 0, "highWatermark": {"min": 0}}}),
        of_partitions({"all": [{"count": 2}, {"any": {"highWatermark": {"in": [9, "$end"]}}}]}),
        of_partitions({"any": {"highWatermark": {"not": 0}, "records": {"not": None}}}),
        of_partitions({"any": {"records": {"batches": [{"baseOffset": 3, "isControl": False, "records": [RECORD]}]}}}),
        of_partitions({"any": {"records": {"batches": {"any": {"records": {"each": {"key": "k"}}}}}}}),
    ],
)
def test_patterns_that_match(pattern: Any) -> None:
    assert problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ({"errorCode": 3}, "errorCode: expected 3, got 0"),
        ({"errorCode": False}, "errorCode: expected false, got 0"),
        ({"error": 3}, "error: this version has no such field"),
        ({"responses": []}, "responses: expected 0 elements, got ["),
        ({"responses": {"topic": "t"}}, "responses: expected a struct, got ["),
        ({"errorCode": [1]}, "errorCode: expected 1 elements, got 0"),
        ({"errorCode": {"any": 0}}, "errorCode: expected a list, got 0"),
        ({"errorCode": {"min": "$end"}}, "errorCode: expected at least 4, got 0"),
        ({"responses": {"min": 1}}, "responses: expected at least 1, got ["),
        ({"errorCode": {"in": [1, "$end"]}}, "errorCode: expected one of [1, 4], got 0"),
        ({"errorCode": {"not": 0}}, "errorCode: expected another value than 0"),
        (of_partitions({"count": 3}), "responses[0].partitions: expected 3 elements, got ["),
        (of_partitions([{}, {"records": None}]), 'responses[0].partitions[1].records: expected null, got ""'),
        (of_partitions({"each": {"records": ""}}), 'responses[0].partitions[0].records: expected "", got "'),
        (of_partitions({"any": {"partitionIndex": 2}}), 'responses[0].partitions: expected an element like {"parti'),
        (of_partitions({"none": {"records": ""}}), 'responses[0].partitions: expected no element like {"records": ""}'),
        (of_partitions({"all": [{"count": 2}, {"count": 1}]}), "responses[0].partitions: expected 1 elements, got ["),
        (
            of_partitions([{"records": {"batches": [{"records": [{"value": ""}]}]}}, {}]),
            'responses[0].partitions[0].records[0].records[0].value: expected "", got null',
        ),
        (
            of_partitions([{}, {"records": {"batches": [{}]}}]),
            "responses[0].partitions[1].records: expected 1 elements",
        ),
    ],
)
def test_patterns_that_do_not_match(pattern: Any, message: str) -> None:
    found = problem(pattern)
    assert found is not None
    assert found.startswith(message)


def batches_problem(records: bytes | None, pattern: Any) -> str | None:
    value = None if records is None else b64encode(records).decode()
    return mismatch({"batches": pattern}, value, {})


def test_control_batches() -> None:
    commit = write_control_batch("COMMIT", offset=7, timestamp=0, producer_id=5, producer_epoch=0)
    assert (
        batches_problem(commit, [{"baseOffset": 7, "isControl": True, "control": ["COMMIT"], "producerId": 5}]) is None
    )
    assert batches_problem(commit, [{"control": ["ABORT"]}]) == '[0].control[0]: expected "ABORT", got "COMMIT"'


def test_records_that_cannot_be_read() -> None:
    assert batches_problem(None, []) == ': expected batches, got "no records"'
    damaged = RECORDS[:17] + bytes([RECORDS[17] ^ 1]) + RECORDS[18:]
    found = batches_problem(damaged, [{}])
    assert found is not None
    assert "checksum" in found


def test_batches_in_requests() -> None:
    row = {
        "key": "k",
        "value": None,
        "timestamp": 5,
        "headers": [{"key": "h", "value": "1"}, {"key": "h", "value": None}],
    }
    content = {"index": 0, "records": {"records": [row], "producerId": "$end", "producerEpoch": 0, "baseSequence": 0}}
    expected = write_batch(
        [Record(timestamp=5, key=b"k", value=None, headers=(("h", b"1"), ("h", None)))],
        producer_id=4,
        producer_epoch=0,
        base_sequence=0,
    )
    assert replaced(content, VARIABLES) == {"index": 0, "records": b64encode(expected).decode()}


@pytest.mark.parametrize(("damage", "is_control"), [("checksum", False), ("control", True)])
def test_damaged_batches_in_requests(damage: str, is_control: bool) -> None:
    from base64 import b64decode

    made = b64decode(
        replaced({"records": {"records": [{"timestamp": 5}], "damage": damage, "repeat": 2}}, {})["records"]
    )
    half = made[: len(made) // 2]
    assert made == half * 2
    (batch,) = read_batches(half, verify=False)
    assert batch.is_control is is_control


def test_values_at_paths() -> None:
    assert value_at(JSON, "responses[0].partitions[1].partitionIndex") == 1
    with pytest.raises(IndexError):
        value_at(JSON, "responses[1].topic")
