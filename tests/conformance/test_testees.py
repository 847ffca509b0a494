"""Codecs compared with Kafka by the codec mode, with the results on docs/conformance-codecs.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from kafka_conformance.command import main
from kafka_conformance.result import Outcome, load

from tests.interop.kafka import BUILD_SECONDS, ROOT, Java, bounded, built_go

TESTEES = Path(__file__).with_name("testees")
PAGE = ROOT / "docs" / "conformance-codecs.md"
WORK = ROOT / ".work" / "conformance"
# Some testees allocate memory for any count in the data; whether that fails must not depend on the machine.
LIMITED = ("sh", "-c", 'ulimit -v 4194304; exec "$@"', "sh")
ROW = re.compile(r"^\| (?P<testee>[^|]+?) +\|" + r" +([\d,]+) \|" * 3, re.MULTILINE)


def java() -> Sequence[str]:
    kafka = Java.of("kafka", ROOT / ".work" / "interop")
    return kafka.compiled([TESTEES / "Testee.java"], WORK / "classes").command("Testee")


def kmsg() -> Sequence[str]:
    return [built_go(TESTEES / "kmsg", WORK / "kmsg")]


def kafka_protocol_rs() -> Sequence[str]:
    manifest, target = TESTEES / "kafka_protocol_rs" / "Cargo.toml", WORK / "rust"
    options = ["--quiet", "--release", "--locked", "--manifest-path", str(manifest), "--target-dir", str(target)]
    bounded(["cargo", "build", *options], BUILD_SECONDS)
    return [*LIMITED, str(target / "release" / "kafka-protocol-testee")]


def kafka_python() -> Sequence[str]:
    return [sys.executable, str(TESTEES / "kafka_python_testee.py")]


def kio() -> Sequence[str]:
    return [*LIMITED, sys.executable, str(TESTEES / "kio_testee.py")]


def documented(testee: str) -> dict[Outcome, int]:
    """Return the numbers of cases that the page states for a testee."""
    rows = {row["testee"]: row for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))}
    counts = (int(each.replace(",", "")) for each in rows[testee].groups()[1:])
    outcomes: tuple[Outcome, ...] = ("passed", "known", "not run")
    return {outcome: count for outcome, count in zip(outcomes, counts, strict=True) if count}


@pytest.mark.nightly
@pytest.mark.parametrize("build", [java, kio, kmsg, kafka_python, kafka_protocol_rs], ids=lambda each: each.__name__)
def test_each_testee_fails_the_cases_on_the_page(
    build: Callable[[], Sequence[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUST_BACKTRACE", "0")  # a backtrace takes longer than the case
    WORK.mkdir(parents=True, exist_ok=True)
    report, known = tmp_path / "report.json", TESTEES / f"{build.__name__}.known"
    options = ["--json", str(report), *(["--known-failures", str(known)] if known.exists() else [])]

    status = main(["codec", *options, "--", *build()])

    found = load(report)
    assert (status, found.counts) == (0, documented(found.testee))
