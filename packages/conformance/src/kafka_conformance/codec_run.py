"""The codec mode: sends the cases to a testee, and compares its answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from .codec_case import CodecCase
from .codec_check import problem_of, requests_of
from .pipe import OPERATIONS, Testee
from .result import BY_SEVERITY, Report, Result, SentBytes


async def run_codec(command: Sequence[str], cases: Iterable[CodecCase], timeout: float) -> Report:
    """Run the cases with a program. Raises ProgramError if it cannot be used at all."""
    testee = Testee(command, timeout)
    try:
        await testee.describe()
        report = Report("codec", testee.name)
        if missing := [each for each in OPERATIONS if each not in testee.operations]:
            report.notes.append(f"the testee does not {' or '.join(missing)}")
        asked = [(case, request) for case in cases for request in requests_of(case, testee.operations)]
        problems: dict[str, list[str]] = {}
        reasons: dict[str, str] = {}
        errors = defaultdict[str, str](str)
        unsupported = Counter[str]()
        answers = testee.ask(_numbered(request for _, request in asked))
        for case, request in asked:
            answer = await anext(answers)
            if "unsupported" in answer.fields or not answer.is_sent:
                if request["op"] == "rewrite":  # without it, a case has not run
                    reasons[case.id] = str(answer.fields.get("unsupported", answer.problem))[:200]
                unsupported[request["op"]] += answer.is_sent
                continue
            problem = answer.problem or problem_of(case, request["op"], answer.fields)
            problems.setdefault(case.id, []).extend([problem] if problem else [])
            errors[case.id] += answer.stderr
        done = {case.id: case for case, _ in asked}
        report.results = [
            _result(case, problems.get(case.id), reasons.get(case.id, ""), errors[case.id]) for case in done.values()
        ]
        report.notes += [f"{name} is unsupported in {count} cases" for name, count in unsupported.items() if count]
        return report
    finally:
        await testee.close()


def _numbered(requests: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, request in zip(count(1), requests, strict=False):
        yield {"id": number, **request}


def _result(case: CodecCase, problems: list[str] | None, reason: str, stderr: str) -> Result:
    if not problems and reason:
        return Result(case.id, "not run", reason)
    if not problems:
        return Result(case.id, "passed")
    kafka = "refuses these bytes" if case.expected is None else f"writes {_shown(case)}"
    name = {"records": "kafka_records", "request": ""}.get(case.kind, case.name)
    sent = SentBytes(case.data.hex(), name=name, version=case.version, is_frame=case.kind == "response")
    outcome, problem = BY_SEVERITY[case.severity], "; ".join(problems)
    return Result(case.id, outcome, problem, kafka, case.rule, case.source, [sent], stderr)


def _shown(case: CodecCase) -> str:
    return "the same bytes" if case.expected == case.data or case.expected is None else case.expected.hex()
