"""Entity types of fields: equal on the pages, in the command and in protocol.json."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_message_generator import definitions
from kafka_message_generator.export.document import document
from kafka_message_generator.rules.names import snake_case
from kafka_messages_tools.command import main
from kafka_protocol_pages import indexes
from kafka_protocol_pages.message import page_of
from tests.support.pages import ROOT


def test_pages_command_and_protocol_json_have_equal_entities(capsys: pytest.CaptureFixture[str]) -> None:
    found = definitions.load(ROOT / "specs" / "kafka")
    pages = [page_of(plan, found) for plan in sorted(found.plans, key=lambda plan: plan.name)]
    expected = {
        each.id: {(holder.message, field.path) for holder in each.holders for field in holder.fields}
        for each in indexes.entities(pages)
    }
    counts = {entity: len({message for message, _ in fields}) for entity, fields in expected.items()}
    assert counts == {
        "brokerId": 67,
        "clientId": 14,
        "clientMetrics": 8,
        "clusterId": 13,
        "delegationToken": 11,
        "groupId": 78,
        "principal": 8,
        "producerId": 19,
        "rack": 22,
        "shareKey": 2,
        "topicId": 59,
        "topicName": 109,
        "transactionalId": 20,
        "user": 16,
    }
    for entity, fields in expected.items():
        assert main(["show", "--entity", entity, "--json"]) == 0
        lines = map(json.loads, capsys.readouterr().out.splitlines())
        assert {(row["message"], row["path"]) for row in lines} == fields
    assert _of_document(document(found)) == {
        (entity, message, snake_case(path.rpartition(".")[2]))
        for entity, fields in expected.items()
        for message, path in fields
    }


def _of_document(found: Any) -> set[tuple[str, str, str]]:
    return {
        (entity, message["name"], field.get("snakeName", snake_case(field["name"])))
        for message in found["messages"]
        for struct in message["structs"]
        for field in struct["fields"]
        for entity in _entities(field)
    }


def _entities(field: dict[str, Any]) -> list[str]:
    one = [field["entityType"]] if "entityType" in field else []
    return one + list(field.get("entityTypes", {"values": {}})["values"].values())
