"""``protocol.json``: its JSON Schema, determinism, and completeness for decoding."""

from __future__ import annotations

import base64
import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator
from kafka_messages import all_messages
from kafka_messages.secrets import METADATA_TOPIC

from kafka_message_generator import cli, definitions
from kafka_message_generator.export.command import SCHEMA_FILE, write
from kafka_message_generator.export.document import document, text
from kafka_protocol_upstream.publish.invoices import DEFINITIONS
from tests.support import vectors
from tests.support.building import write_specs
from tests.support.pages import ROOT
from tests.support.vectors import plain

KAFKA, PROPOSALS = ROOT / "specs" / "kafka", ROOT / "specs" / "proposals"


@pytest.fixture(scope="module")
def kafka() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(document(definitions.load(KAFKA))))
    return found


def message(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in found["messages"] if each["name"] == name)


@pytest.fixture(scope="module")
def proposals() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(document(definitions.load(PROPOSALS))))
    return found


@pytest.mark.parametrize("specs", ["kafka", "proposals"])
def test_document_is_valid_against_its_schema(specs: str, request: pytest.FixtureRequest) -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    errors = Draft202012Validator(schema).iter_errors(request.getfixturevalue(specs))
    assert [f"{error.json_path}: {error.message}"[:300] for error in errors] == []


def test_json_schema_rejects_invalid_documents(kafka: dict[str, Any]) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    field = {"name": "a", "type": "int32"}
    for wrong in (
        {**field, "compcat": True},
        {**field, "type": "int128"},
        {"name": "a", "type": "array"},
        {"name": "a", "type": "struct"},
        {"type": "int32"},
    ):
        layout = {"versions": [0], "fields": [wrong]}
        struct = {"name": "A", "fields": [], "layouts": [layout]}
        one = {"name": "A", "kind": "data", "versions": [0], "structs": [struct]}
        assert not validator.is_valid({**kafka, "messages": [one]}), wrong
        layout["fields"] = [field]
        assert validator.is_valid({**kafka, "messages": [one]})


def test_example_decoder_reads_every_vector(kafka: dict[str, Any]) -> None:
    decode = runpy.run_path(str(ROOT / "examples" / "protocol_codec.py"))["decode"]
    count = 0
    for name, known in vectors.of_every_version().items():
        for vector in known:
            found = decode(message(kafka, name), vector.version, vector.data)
            assert plain(found) == plain(vector.json_out), vector
            count += 1
    assert count > 4900


def test_every_message_version_has_exactly_one_layout(kafka: dict[str, Any]) -> None:
    for each in kafka["messages"]:
        own = [version for layout in each["structs"][0]["layouts"] for version in layout["versions"]]
        assert sorted(own) == each["versions"], each["name"]
        for struct in each["structs"]:
            runs = [version for layout in struct["layouts"] for version in layout["versions"]]
            assert len(runs) == len(set(runs)), (each["name"], struct["name"])


def test_protocol_json_of_metadata_request_has_the_expected_content(kafka: dict[str, Any]) -> None:
    found = message(kafka, "MetadataRequest")
    assert {key: value for key, value in found.items() if key != "structs"} == {
        "name": "MetadataRequest",
        "kind": "request",
        "apiKey": 3,
        "versions": list(range(14)),
        "flexibleVersions": list(range(9, 14)),
        "listeners": ["broker"],
        "headerVersions": [1] * 9 + [2] * 5,
        "folder": "clients",
        "about": "Asks any broker for the cluster, its brokers and the partitions of topics.",
    }
    topic = found["structs"][1]
    assert topic["layouts"] == [
        {"versions": list(range(9)), "fields": [{"name": "name", "type": "string"}]},
        {"versions": [9], "tags": [], "fields": [{"name": "name", "type": "string", "compact": True}]},
        {
            "versions": list(range(10, 14)),
            "tags": [],
            "fields": [
                {"name": "topicId", "type": "uuid"},
                {"name": "name", "type": "string", "compact": True, "nullable": True},
            ],
        },
    ]
    assert topic["fields"][0]["default"] == "A" * 22


def test_every_version_of_requests_and_responses_has_its_header_version(kafka: dict[str, Any]) -> None:
    of_messages = {each["name"]: each.get("headerVersions") for each in kafka["messages"]}
    assert of_messages == {
        each.name: [each.header_version(version) for version in each.valid_versions] if each.header_versions else None
        for each in all_messages()
    }
    for each in kafka["apis"]:
        for side in ("request", "response"):
            assert each.get(f"{side}HeaderVersions") == of_messages.get(each.get(side)), each["name"]


def test_declared_header_versions_are_exported(tmp_path: Path) -> None:
    request, response = (
        {**definition, "headerVersions": ranges}
        for definition, ranges in zip(DEFINITIONS, ({"2+": 3, "0": 0, "1": 1}, {"0-2": 1, "3+": 2}), strict=False)
    )
    found = document(definitions.load(write_specs(tmp_path, request, response)))
    parsed = json.loads(text(found))
    expected = {"InvoiceRequest": [0, 1, 3, 3], "InvoiceResponse": [1, 1, 1, 2]}
    assert {each["name"]: each["headerVersions"] for each in parsed["messages"]} == expected
    [api] = parsed["apis"]
    assert (api["requestHeaderVersions"], api["responseHeaderVersions"]) == tuple(expected.values())


def test_integer_too_large_for_a_double_is_a_string(kafka: dict[str, Any]) -> None:
    fields = [field for struct in message(kafka, "FetchRequest")["structs"] for field in struct["fields"]]
    assert next(each for each in fields if each["name"] == "highWatermark")["default"] == str(2**63 - 1)


def test_metadata_topic_and_fetched_records_are_exported(kafka: dict[str, Any]) -> None:
    identity = base64.urlsafe_b64encode(UUID(int=1).bytes).decode().rstrip("=")
    assert kafka["metadataTopic"] == {"name": METADATA_TOPIC, "id": identity}
    assert message(kafka, "FetchResponse")["fetchedRecords"] == {
        "topics": ["responses.topic", "responses.topic_id"],
        "records": "responses.partitions.records",
    }
    assert "metadataTopic" not in document(definitions.load(PROPOSALS))


def test_output_is_deterministic(tmp_path: Path) -> None:
    first, second = (write(KAFKA, tmp_path / name)[0].read_bytes() for name in ("one", "two"))
    assert first == second
    assert first.isascii()


def test_export_writes_document_and_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "new" / "folder"
    assert cli.main(["export", "--specs", str(PROPOSALS), "--output", str(output)]) == 0
    sizes = [f"{name} {(output / name).stat().st_size:,} bytes" for name in ("protocol.json", "protocol.schema.json")]
    assert capsys.readouterr().out == f"{output}: {', '.join(sizes)}\n"
    (tmp_path / "Broken.json").write_text("{", encoding="utf-8")
    assert cli.main(["export", "--specs", str(tmp_path / "Broken.json"), "--output", str(output)]) == 1
    assert "nothing was generated" in capsys.readouterr().err


def test_every_schema_key_is_documented() -> None:
    page = (ROOT / "docs" / "protocol-json.md").read_text(encoding="utf-8")
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    named = set(re.findall(r"`([A-Za-z]+)`", page))
    assert sorted(set(_keys(schema)) - named) == []


def _keys(schema: Any) -> Iterator[str]:
    for name, inner in schema.items() if isinstance(schema, dict) else ():
        if name in ("properties", "$defs"):
            yield from inner if name == "properties" else ()
            for each in inner.values():
                yield from _keys(each)
        else:
            for each in inner if isinstance(inner, list) else [inner]:
                yield from _keys(each)


def test_api_versions_and_supported_versions_are_exported(kafka: dict[str, Any]) -> None:
    apis = {each["name"]: each for each in kafka["apis"]}
    assert apis["Produce"]["versions"] == list(range(14))
    assert apis["Produce"]["supportedVersions"] == list(range(3, 14))
    assert "supportedVersions" not in apis["Heartbeat"]
    assert apis["LeaderAndIsr"]["supportedVersions"] == []
    assert all("versions" in each for each in kafka["apis"])


def test_entity_types_of_fields_are_exported(kafka: dict[str, Any]) -> None:
    fields = {
        (each["name"], field["name"]): field
        for each in kafka["messages"]
        for struct in each["structs"]
        for field in struct["fields"]
    }
    assert fields["OffsetCommitKey", "group"]["entityType"] == "groupId"
    assert fields["FindCoordinatorRequest", "coordinatorKeys"]["entityTypes"] == {
        "by": "keyType",
        "values": {"0": "groupId", "1": "transactionalId", "2": "shareKey"},
    }
    assert fields["FindCoordinatorResponse", "key"]["entityTypes"]["byRequest"] == "keyType"
    assert fields["DescribeAclsRequest", "resourceNameFilter"]["wildcard"] == "*"
    assert fields["FetchRequest", "topicId"]["entityType"] == "topicId"
