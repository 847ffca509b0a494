"""A package unrelated to Kafka: three definitions, settings, license, and a script that uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

VERSIONS = {"validVersions": "0-3", "flexibleVersions": "2+"}
NUMBER = {"name": "Number", "type": "string", "versions": "0+"}
DEFINITIONS: tuple[dict[str, object], ...] = (
    {
        "apiKey": 1,
        "type": "request",
        "listeners": ["broker"],
        "name": "InvoiceRequest",
        **VERSIONS,
        "fields": [NUMBER, {"name": "WithLines", "type": "bool", "versions": "1+"}],
    },
    {
        "apiKey": 1,
        "type": "response",
        "name": "InvoiceResponse",
        **VERSIONS,
        "fields": [
            {"name": "ErrorCode", "type": "int16", "versions": "0+"},
            {"name": "Cents", "type": "int64", "versions": "0+"},
        ],
    },
    {
        "apiKey": 2,
        "type": "request",
        "name": "PaidRequest",
        "validVersions": "0",
        "flexibleVersions": "none",
        "fields": [NUMBER],
    },
)
SETTINGS = """
[package]
name = "acme-invoices"
import-name = "acme_invoices"
version = "2.1.0"
description = 'Invoices "by wire" \\ {{ all }} of them'
license = "LicenseRef-Acme"
license-files = ["COPYING"]
authors = [{ name = "Ada Ångström", email = "ada@example.org" }, { name = "Acme" }]
requires-python = ">=3.11"
classifiers = ["Private :: Do Not Upload"]
urls = { Source = "https://example.org/invoices", "Bug tracker" = "https://example.org/bugs" }

[protocol]
headers = "kafka"
one-way = ["PaidRequest"]
"""
COPYING = "For friends of Acme.\n"
USE = """
import importlib, sys
import acme_invoices
from acme_invoices import InvoiceRequest, InvoiceResponse, PaidRequest
from acme_invoices.errors import KafkaMessageError
from acme_invoices.protocol import (
    ApiKey, UnknownApiError, api, decode_request, decode_response, encode_request, encode_response
)

ask = InvoiceRequest(number="A-7", with_lines=True)
for version in range(1, 4):
    wire = encode_request(ask, version, 11, "me", framed=False)
    request = decode_request(wire)
    assert (request.message, request.version, request.header.client_id) == (ask, version, "me")
    assert request.encode(framed=False) == wire
    answer = encode_response(InvoiceResponse(cents=995), version, request.header.correlation_id, framed=False)
    response = decode_response(answer, InvoiceResponse, version)
    assert (response.message.cents, response.header.correlation_id) == (995, 11)

paid = encode_request(PaidRequest(number="A-7"), 0, 12, framed=False)
assert decode_request(paid).message == PaidRequest(number="A-7")
assert ask.response_class is InvoiceRequest.response_class is InvoiceResponse
try:
    PaidRequest.response_class
except AttributeError as error:
    assert str(error) == "PaidRequest has no response", error
else:
    raise AssertionError("there is no response")
assert (api(PaidRequest).response_name, api(PaidRequest).key) == ("", ApiKey.PAID)
for ask_for in (
    lambda: api(2).response_class, lambda: decode_response(b"", 2, 0), lambda: decode_response(b"", PaidRequest, 0)
):
    try:
        ask_for()
    except UnknownApiError as error:
        assert str(error) == "PaidRequest has no response", error
    else:
        raise AssertionError("there is no response")

for part in ("internal_topics", "arrow", "explain"):
    try:
        importlib.import_module("acme_invoices." + part)
    except ModuleNotFoundError as error:
        assert str(error) == f"No module named 'acme_invoices.{part}'", error
    else:
        raise AssertionError(part)
assert not {"kafka_message_generator", "kafka_messages", "numpy", "pyarrow"} & set(sys.modules)
print(acme_invoices.__version__, acme_invoices.__doc__.splitlines()[0])
"""
# Output of the script.
PRINTED = "2.1.0 Invoices 'by wire' \\ {{ all }} of them: read and write any message at any version.\n"
LAYERS = {
    *("__init__.py", "errors.py", "json.py", "py.typed"),
    *("_base", "_core", "enums", "messages", "protocol", "schema"),
}
# Words that only Kafka's logs and our own package contain.
WORDS = ("__consumer_offsets", "__cluster_metadata", "__transaction_state", "kafka_messages.", "numpy", "pyarrow")


def write(folder: Path) -> Path:
    """Write definitions, settings and license into a new folder; return it."""
    folder.mkdir(parents=True)
    for definition in DEFINITIONS:
        (folder / f"{definition['name']}.json").write_text(json.dumps(definition), encoding="utf-8")
    (folder / "package.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "COPYING").write_text(COPYING, encoding="utf-8")
    return folder


def foreign(package: Path) -> Iterator[str]:
    """Return the contents of a generated folder that these definitions do not need."""
    for path in sorted(path for path in package.rglob("*") if path.is_file()):
        name, text = path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")
        if name.startswith("src/") and name.split("/")[2] not in LAYERS:
            yield f"{name}: nothing calls for this part"
        yield from (f"{name}: {word}" for word in WORDS if word in text)
