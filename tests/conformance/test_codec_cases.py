"""The cases for codecs: ids, sources, and answers that are wrong on purpose."""

from __future__ import annotations

import re
from typing import Any

import pytest
from kafka_conformance.case import group_of, selected
from kafka_conformance.codec_case import CodecCase, codec_cases, written
from kafka_conformance.codec_check import problem_of, requests_of

from kafka_protocol_vectors import batches, frames, negative, vectors

CASES = {case.id: case for case in codec_cases()}


def test_ids_are_unique_and_made_of_group_and_name() -> None:
    assert len(CASES) == sum(1 for _ in codec_cases())
    wrong = [id for id in CASES if not re.fullmatch(r"[A-Z0-9]+(-[A-Z0-9]+)*\.[a-z0-9]+([.-][a-z0-9]+)*", id)]
    assert wrong == []


def test_each_vector_is_a_case() -> None:
    refused = [each for each in negative() if each.kafka == "refused"]
    generated = [*vectors(), *frames(), *batches(), *refused]
    assert len(CASES) == len(generated) + sum(1 for _ in written())


def test_rules_are_sentences() -> None:
    assert [case.rule for case in CASES.values() if not (case.rule.endswith(".") and len(case.rule.split()) < 30)] == []


def test_groups_are_the_words_of_the_message() -> None:
    names = (
        "OffsetFetchRequest",
        "ApiVersionsResponse",
        "KRaftVersionRecord",
        "AbortedTxn",
        "ConsumerProtocolAssignment",
    )
    groups = ["OFFSET-FETCH", "API-VERSIONS", "K-RAFT-VERSION-RECORD", "ABORTED-TXN", "CONSUMER-PROTOCOL-ASSIGNMENT"]
    assert [group_of(name) for name in names] == groups


def test_selection_by_pattern() -> None:
    found = [case.id for case in selected(CASES.values(), ["HEARTBEAT.request-0-*", "HEARTBEAT.response-4-full"])]
    assert found[:2] == ["HEARTBEAT.request-0-default", "HEARTBEAT.request-0-empty"]
    assert "HEARTBEAT.response-4-full" in found


FULL = CASES["HEARTBEAT.request-4-full"]
DAMAGED = CASES["HEARTBEAT.request-4-damaged-truncated"]


def test_a_case_asks_for_each_operation() -> None:
    given = {"kind": "message", "name": "HeartbeatRequest", "version": 4}
    data = FULL.data.hex()
    assert list(requests_of(FULL, ("rewrite", "decode", "encode"))) == [
        {"op": "rewrite", **given, "data": data},
        {"op": "decode", **given, "data": data},
        {"op": "encode", **given, "json": FULL.json},
    ]
    assert [each["op"] for each in requests_of(DAMAGED, ("rewrite", "decode", "encode"))] == ["rewrite", "decode"]


def problem(answer: dict[str, Any], operation: str = "rewrite", case: CodecCase = FULL) -> str | None:
    return problem_of(case, operation, answer)


def test_right_answers() -> None:
    assert problem({"data": FULL.data.hex()}) is None
    assert problem({"json": FULL.json}, "decode") is None
    assert problem({"data": FULL.data.hex()}, "encode") is None
    assert problem({"refused": "too short"}, case=DAMAGED) is None


def test_other_bytes() -> None:
    data = bytearray(FULL.data)
    data[-4] ^= 1
    found = problem({"data": data.hex()})
    assert found is not None
    assert found.startswith(f"rewrite: byte {len(data) - 4} (")
    assert found.endswith(f"; {len(data)} bytes expected, got {len(data)}")


def test_missing_bytes() -> None:
    data = FULL.data[:-1]
    assert problem({"data": data.hex()}) == (
        f"rewrite: byte {len(data)} (_tagged_fields) differs: expected 00, got the end; "
        f"{len(data) + 1} bytes expected, got {len(data)}"
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({}, 'rewrite: the answer has no valid "data" and no "refused": {}'),
        ({"data": 3}, 'rewrite: the answer has no valid "data" and no "refused": {\'data\': 3}'),
        ({"data": "0x"}, "rewrite: the answer has no valid \"data\" and no \"refused\": {'data': '0x'}"),
        ({"refused": "no"}, "rewrite: refused: no"),
    ],
)
def test_answers_without_a_result(answer: dict[str, Any], message: str) -> None:
    assert problem(answer) == message


def test_accepted_damage() -> None:
    assert problem({"data": "00"}, case=DAMAGED) == "rewrite: accepted, and returned {'data': '00'}"


def test_other_values_of_json() -> None:
    assert FULL.json is not None
    wrong = {**FULL.json, "generationId": 5}
    assert problem({"json": wrong}, "decode") == (
        "decode: byte 5 (generation_id) differs: expected 7f ff ff ff 04 e6 bc a2 …, got 00 00 00 05 04 e6 bc a2 …; "
        "26 bytes expected, got 26"
    )
    wrong = {key: value for key, value in FULL.json.items() if key != "memberId"}
    assert problem({"json": wrong}, "decode") == (
        "decode: HeartbeatRequest v4: memberId: is missing, but version 4 has this field"
    )
