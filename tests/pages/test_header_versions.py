"""Header versions on the pages of requests and responses, for every version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kafka_messages import all_messages

from kafka_message_generator import definitions
from kafka_protocol_pages.message import page_of
from kafka_protocol_upstream.publish.invoices import DEFINITIONS
from tests.support.building import write_specs
from tests.support.pages import ROOT

RUN = re.compile(r"(\d+) for versions? (\d+)(?:-(\d+))?")


def headers(specs: Path) -> Iterator[tuple[str, str, dict[int, int]]]:
    """Yield the message, the name of its header, and the header version of each version."""
    found = definitions.load(specs)
    for plan in found.plans:
        for fact in page_of(plan, found).facts:
            if fact.name == "Header":
                name, text = fact.text.split(" ", 1)
                runs = [(int(header), int(first), int(last or first)) for header, first, last in RUN.findall(text)]
                of_versions = {v: header for header, first, last in runs for v in range(first, last + 1)}
                yield plan.name, name, of_versions


def test_page_of_each_request_and_response_has_the_header_of_each_version() -> None:
    assert sorted(headers(ROOT / "specs" / "kafka")) == [
        (
            each.name,
            f"{each.kind.title()}Header",
            {version: each.header_version(version) for version in each.valid_versions},
        )
        for each in all_messages()
        if each.kind in ("request", "response")
    ]


def test_page_has_the_declared_header_versions(tmp_path: Path) -> None:
    request = {**DEFINITIONS[0], "headerVersions": {"2+": 3, "0": 0, "1": 1}}
    response = {**DEFINITIONS[1], "headerVersions": {"0-2": 1, "3+": 2}}
    assert sorted(headers(write_specs(tmp_path, request, response))) == [
        ("InvoiceRequest", "RequestHeader", {0: 0, 1: 1, 2: 3, 3: 3}),
        ("InvoiceResponse", "ResponseHeader", {0: 1, 1: 1, 2: 1, 3: 2}),
    ]
