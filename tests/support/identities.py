"""A package of our own whose request header has version 3, as KIP-1313 proposes it."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

from kafka_message_generator import cli
from tests.support.building import import_package, unique_name, write_specs
from tests.support.pages import ROOT
from tests.support.specs import field, message

INSTANCE = UUID("0a1b2c3d-4e5f-4061-8273-8495a6b7c8d9")
CLIENTS = ROOT / "specs" / "kafka" / "clients"
HEADERS: dict[str, dict[str, str]] = {
    "ApiVersionsRequest": {"0-2": "1", "3-4": "2", "5+": "3"},
    "MetadataRequest": {"0-8": "1", "9-12": "2", "13+": "3"},
    "ProduceRequest": {"0-8": "1", "9-12": "2", "13+": "3"},
}
"""Versions of the request header; the others follow Kafka's rule."""
NAMES = ("ApiVersions", "Metadata", "Produce", "SaslHandshake")
V1, V2, V3 = 8, 12, 13
"""Versions of MetadataRequest and ProduceRequest with request header 1, 2 and 3."""
SETTINGS = """
[package]
import-name = "{name}"
components = ["connection", "secrets", "explain"]
[protocol]
headers = "own"
"""


def definitions() -> list[dict[str, object]]:
    """Return definitions of Kafka's with header versions, and both headers."""
    found: list[dict[str, Any]] = []
    for name in (f"{name}{kind}" for name in NAMES for kind in ("Request", "Response")):
        read = json.loads((CLIENTS / f"{name}.json").read_text(encoding="utf-8"))
        found.append(read | ({"headerVersions": HEADERS[name]} if name in HEADERS else {}))
    request: dict[str, Any] = json.loads((CLIENTS / "RequestHeader.json").read_text(encoding="utf-8"))
    request["fields"].append(field("ClientInstanceId", "uuid", "3+", ignorable=True))
    response = message(
        field("CorrelationId", "int32"),
        name="ResponseHeader",
        type="header",
        validVersions="0-1",
        flexibleVersions="1+",
    )
    return [*found, request | {"validVersions": "1-3"}, response]


def build(folder: Path) -> ModuleType:
    """Generate the package into a folder, and import it."""
    name = unique_name()
    specs = write_specs(folder / "specs", *definitions())
    (specs / "package.toml").write_text(SETTINGS.format(name=name), encoding="utf-8")
    assert cli.main(["generate", "--specs", str(specs), "--output", str(folder / "package")]) == 0
    return import_package(folder / "package" / "src", name)
