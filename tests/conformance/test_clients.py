"""Real clients in the client mode, with the results on docs/conformance-clients.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from kafka_conformance.command import main
from kafka_conformance.result import Outcome, load

from tests.interop.kafka import ROOT, Java, built_go

CLIENTS = Path(__file__).with_name("clients")
PAGE = ROOT / "docs" / "conformance-clients.md"
WORK = ROOT / ".work" / "conformance"
ROW = re.compile(r"^\| (?P<client>[^|]+?) +\| [^|]+ \|" + r" +(\d+) \|" * 4, re.MULTILINE)


def python(name: str) -> Callable[[], Sequence[str]]:
    return lambda: [sys.executable, str(CLIENTS / f"{name}.py")]


def java() -> Sequence[str]:
    kafka = Java.of("kafka", ROOT / ".work" / "interop")
    return kafka.compiled([CLIENTS / "Client.java"], WORK / "client").command("Client")


def franz_go() -> Sequence[str]:
    return [built_go(CLIENTS / "franz_go", WORK / "franz-go-client")]


BUILDERS: dict[str, Callable[[], Sequence[str]]] = {
    "kafka_python": python("kafka_python"),
    "aio_kafka": python("aio_kafka"),
    "confluent": python("confluent"),
    "java": java,
    "franz_go": franz_go,
}


def documented(client: str) -> dict[Outcome, int]:
    """Return the numbers of cases that the page states for a client."""
    rows = {row["client"].replace("-", "_"): row for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))}
    names: dict[str, str] = {"aio_kafka": "aiokafka", "confluent": "confluent_kafka"}
    counts = map(int, rows[names.get(client, client)].groups()[1:])
    outcomes: tuple[Outcome, ...] = ("passed", "known", "warning", "not run")
    return {outcome: count for outcome, count in zip(outcomes, counts, strict=True) if count}


@pytest.mark.nightly
@pytest.mark.parametrize("client", BUILDERS)
def test_each_client_fails_the_cases_on_the_page(client: str, tmp_path: Path) -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    report, known = tmp_path / "report.json", CLIENTS / f"{client}.known"
    options = ["--json", str(report), "--name", client]
    options += ["--known-failures", str(known)] if known.exists() else []

    status = main(["client", *options, "--", *BUILDERS[client]()])

    found = load(report)
    assert (status, found.counts) == (0, documented(client))
