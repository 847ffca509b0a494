"""A made-up Kafka 4.5.0: a small copy of the definitions and their history, and the overlay of a proposal on top.

The overlay has a new message with a new entity type, tagged fields in released versions, a version with request header 3,
and a removed version.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from kafka_message_generator.compat import store
from kafka_protocol_upstream.kafka.history import add_release
from kafka_protocol_upstream.kafka.sources import of_folder
from tests.support.pages import ROOT

SPECS = ROOT / "specs" / "kafka"
MESSAGES = (
    "clients/ApiVersionsRequest",
    "clients/ApiVersionsResponse",
    "clients/DescribeClusterRequest",
    "clients/DescribeClusterResponse",
    "clients/HeartbeatRequest",
    "clients/HeartbeatResponse",
    "clients/RequestHeader",
    "clients/ResponseHeader",
    "group-coordinator/OffsetCommitKey",
    "group-coordinator/OffsetCommitValue",
)
"""Messages of the small copy."""
SETTINGS = """[package]
name = "next-messages"
import-name = "next_messages"
version = "4.4.0.1"
components = ["protocol", "connection", "history", "internal_topics"]

[internal-topics.logs]
__consumer_offsets = "group-coordinator"

[definitions]
older = ["../history"]
"""
QUOTA_NAME = {"name": "QuotaName", "type": "string", "versions": "0+", "entityType": "quotaName"}
LIST_QUOTAS_REQUEST = {
    "apiKey": 95,
    "type": "request",
    "listeners": ["broker"],
    "name": "ListQuotasRequest",
    "validVersions": "0",
    "flexibleVersions": "0+",
    "fields": [QUOTA_NAME],
}
LIST_QUOTAS_RESPONSE = {
    "apiKey": 95,
    "type": "response",
    "name": "ListQuotasResponse",
    "validVersions": "0",
    "flexibleVersions": "0+",
    "fields": [{"name": "ErrorCode", "type": "int16", "versions": "0+"}, QUOTA_NAME],
}


def small_release(root: Path) -> tuple[Path, Path]:
    """Write a small copy of Kafka 4.4.0 below ``root``; return the folders of its definitions and its history."""
    specs, history = root / "specs" / "kafka", root / "specs" / "history"
    for name in MESSAGES:
        target = specs / f"{name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SPECS / f"{name}.json", target)
    (specs / "package.toml").write_text(SETTINGS, encoding="utf-8")
    (specs / "SOURCE").write_text(json.dumps({"release": "4.4.0", "artifacts": {}}), encoding="utf-8")
    store.write(history, {}, {})
    add_release("4.4.0", of_folder(specs, {}, "4.4.0"), [], history)
    return specs, history


def changed_definitions(specs: Path) -> dict[str, dict[str, Any]]:
    """Return the definitions of the made-up release that differ from those in ``specs``, by file name."""
    found = {name: _definition(specs, name) for name in MESSAGES}
    header = found["clients/RequestHeader"]
    header["validVersions"] = "1-3"
    header["fields"].append({"name": "ClientInstanceId", "type": "uuid", "versions": "3+"})
    request, response = found["clients/DescribeClusterRequest"], found["clients/DescribeClusterResponse"]
    request |= {"validVersions": "0-3", "headerVersions": {"0-2": 2, "3+": 3}}
    response["validVersions"] = "0-3"
    heartbeats = found["clients/HeartbeatRequest"], found["clients/HeartbeatResponse"]
    for each in heartbeats:
        each["validVersions"] = "1-4"
    tagged = {"type": "int64", "versions": "4+", "tag": 0, "taggedVersions": "4+", "default": "-1", "ignorable": True}
    heartbeats[0]["fields"].append({"name": "AssignmentEpoch", **tagged})
    found["group-coordinator/OffsetCommitValue"]["fields"].append({"name": "assignmentEpoch", **tagged, "tag": 1})
    names = ["clients/RequestHeader", "clients/DescribeClusterRequest", "clients/DescribeClusterResponse"]
    names += ["clients/HeartbeatRequest", "clients/HeartbeatResponse", "group-coordinator/OffsetCommitValue"]
    changed = {f"{name.rpartition('/')[2]}.json": found[name] for name in names}
    return changed | {"ListQuotasRequest.json": LIST_QUOTAS_REQUEST, "ListQuotasResponse.json": LIST_QUOTAS_RESPONSE}


def _definition(specs: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((specs / f"{name}.json").read_text(encoding="utf-8"))
    return found


def write_overlay(folder: Path, specs: Path) -> Path:
    """Write the changed definitions as a proposal has them: in one folder, named as in Kafka's sources."""
    folder.mkdir()
    for name, definition in changed_definitions(specs).items():
        (folder / name).write_text(f"// A proposal.\n{json.dumps(definition, indent=2)}\n", encoding="utf-8")
    return folder
