"""What all cases have in common: an id, a rule and its source."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from kafka_messages.errors import did_you_mean

Severity: TypeAlias = Literal["error", "warning", "kafka-quirk"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "kafka-quirk")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A rule of the protocol, and how to check it."""

    mode: ClassVar[str] = ""
    id: str
    """Group and name, such as ``FETCH.records-null-when-empty``."""
    rule: str
    """One sentence: what a correct implementation does."""
    source: str
    """Definition, KIP or class of Kafka."""
    bug: str = ""
    """Report of an implementation that broke the rule, such as ``apache/kafka#18726``."""
    severity: Severity = "error"
    releases: str = ""
    """Releases of Kafka for which the rule holds, such as ``2.4+``; empty for all."""

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    def description(self) -> list[str]:
        """Lines for people, without the id."""
        lines = [self.rule, "", f"mode      {self.mode}", f"severity  {self.severity}", f"source    {self.source}"]
        lines += [f"bug       {self.bug}"] * bool(self.bug)
        return lines + [f"releases  {self.releases}"] * bool(self.releases)


C = TypeVar("C", bound=Case)


class CaseError(ValueError):
    """A file of cases is invalid, or a case does not exist."""


def selected(cases: Iterable[C], patterns: Iterable[str]) -> list[C]:
    """Return the cases whose ids match one of the patterns, in which ``*`` stands for any text; all without patterns.

    Raises CaseError for a pattern without a case.
    """
    wanted, found = list(patterns), list(cases)
    ids = [case.id for case in found]
    for pattern in wanted:
        if not fnmatch.filter(ids, pattern):
            raise CaseError(f"there is no case {pattern}{did_you_mean(pattern, ids)}")
    return [case for case in found if not wanted or any(fnmatch.fnmatchcase(case.id, each) for each in wanted)]


def group_of(name: str) -> str:
    """Return the group of an API or message: ``OFFSET-FETCH`` for ``OffsetFetchRequest``."""
    stem = re.sub(r"(Request|Response)$", "", name)
    return "-".join(_WORD.findall(stem)).upper()


def rows(mode: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of a mode that are written by hand, from ``cases/<mode>.jsonl``."""
    text = files(__package__).joinpath(f"cases/{mode}.jsonl").read_text(encoding="utf-8")
    yield from map(json.loads, text.splitlines())
