"""Each bug fails the cases that are named for it, and no others."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Sequence

import pytest
from kafka_conformance.case import selected
from kafka_conformance.codec_case import CodecCase, codec_cases, written
from kafka_conformance.codec_run import run_codec

from tests.conformance.mutants import MUTANTS

CASES = list(codec_cases())
WRITTEN = {case.id for case in written()}
FEW = 40


def named(mutant: str, cases: Iterable[CodecCase] = CASES) -> list[str]:
    return [case.id for case in selected(cases, MUTANTS[mutant].ids)]


def failed(arguments: Sequence[str], cases: Iterable[CodecCase]) -> list[str]:
    """Return the cases that a testee fails, also those that are only a warning or a quirk."""
    report = asyncio.run(run_codec([sys.executable, "-m", *arguments], cases, 30))
    return [result.id for result in report.results if result.outcome != "passed"]


def relevant(mutant: str) -> list[CodecCase]:
    """Return the cases of the messages that a bug concerns, or of record batches; of the first ones if there are many."""
    names = {case.name for case in selected(CASES, MUTANTS[mutant].ids)[:FEW]}
    return [case for case in CASES if case.name in names]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_bug_fails_its_cases(mutant: str) -> None:
    cases = relevant(mutant)
    assert failed(["tests.conformance.mutants", mutant], cases) == named(mutant, cases) != []


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_bug_fails_no_other_case(mutant: str) -> None:
    assert failed(["tests.conformance.mutants", mutant], CASES) == named(mutant)


def test_without_a_bug_all_cases_pass() -> None:
    assert failed(["tests.conformance.plain"], CASES) == []


def test_each_case_written_by_hand_finds_a_bug_that_no_generated_case_finds() -> None:
    found = {id for mutant in MUTANTS if WRITTEN.issuperset(ids := named(mutant)) for id in ids}
    assert found == WRITTEN
