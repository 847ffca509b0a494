"""Results of a run, and their file format."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from kafka_records.files import replace_file

from kafka_messages_tools.text import safe

from .case import Severity

Outcome: TypeAlias = Literal["failed", "warning", "known", "quirk", "not run", "passed"]
NOTABLE: tuple[Outcome, ...] = ("failed", "warning", "known", "quirk")
OUTCOMES: tuple[Outcome, ...] = (*NOTABLE, "not run", "passed")
_FORMAT = 1


class ReportError(ValueError):
    """A file is not a report of this program."""


BY_SEVERITY: dict[Severity, Outcome] = {"error": "failed", "warning": "warning", "kafka-quirk": "quirk"}
"""Outcomes of cases that do not pass; only ``failed`` fails a run."""


@dataclass(frozen=True, slots=True)
class SentBytes:
    """A request and its response, as whole frames in hexadecimal; other bytes have no API."""

    request: str
    response: str = ""
    name: str = ""
    """Message, such as ``FetchResponse``, of bytes that are no request."""
    version: int = -1
    is_frame: bool = False
    """True for a whole frame of the message, with its header."""


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a case."""

    id: str
    outcome: Outcome
    problem: str = ""
    """What is wrong and where; for ``not run``, the reason."""
    kafka: str = ""
    """What Kafka does."""
    rule: str = ""
    source: str = ""
    exchanges: list[SentBytes] = field(default_factory=list)
    stderr: str = ""
    """Standard error of a program that has failed the case."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "problem", safe(self.problem))

    @property
    def texts(self) -> list[tuple[str, str]]:
        """What is said of the result, with labels."""
        return [("rule", self.rule), ("source", self.source), ("problem", self.problem), ("Kafka", self.kafka)]


def counted(results: Iterable[Result]) -> dict[Outcome, int]:
    """Return the number of results by outcome, from the worst to the best."""
    found = Counter(each.outcome for each in results)
    return {outcome: found[outcome] for outcome in OUTCOMES if found[outcome]}


@dataclass(slots=True)
class Report:
    """A run of cases with one testee."""

    mode: str
    testee: str
    results: list[Result] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader must know, such as operations that the testee lacks."""

    def __post_init__(self) -> None:
        self.testee = safe(self.testee)

    @property
    def by_group(self) -> dict[str, list[Result]]:
        found: defaultdict[str, list[Result]] = defaultdict(list)
        for result in self.results:
            found[result.id.partition(".")[0]].append(result)
        return found

    @property
    def counts(self) -> dict[Outcome, int]:
        return counted(self.results)

    @property
    def failures(self) -> list[Result]:
        return [each for each in self.results if each.outcome == "failed"]

    def save(self, path: str | Path) -> None:
        """Write the report as JSON. Raises OSError."""
        content: dict[str, Any] = {"format": _FORMAT, **asdict(self)}
        replace_file(path, [f"{json.dumps(content, indent=1, ensure_ascii=False)}\n".encode()])


def load(path: str | Path) -> Report:
    """Read a report that ``Report.save`` wrote. Raises OSError or ReportError."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content.pop("format") != _FORMAT:
            raise ValueError("unknown format")
        rows: Sequence[dict[str, Any]] = content.pop("results")
        results = [Result(**{**row, "exchanges": [SentBytes(**each) for each in row["exchanges"]]}) for row in rows]
        if unknown := {each.outcome for each in results}.difference(OUTCOMES):
            raise ValueError(f"unknown outcome {unknown.pop()!r}")
        return Report(results=results, **content)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ReportError(f"{path}: not a report of kafka-conformance: {error}") from None
