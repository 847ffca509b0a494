"""Runs jobs of the pipeline in this process, and keeps all that they give."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_messages_spark import jobs

JOBS = sorted(each.name for each in pkgutil.iter_modules(jobs.__path__) if not each.name.startswith("_"))
REPORTS = ("md", "html", "json", "txt")


@dataclass(frozen=True)
class Outcome:
    """What a run of a job gave."""

    exit_status: int
    outputs: Mapping[str, bytes]
    """All of it, by where it is: files as they are, and what was printed."""
    folder: Path

    @property
    def tables(self) -> str:
        """The folder of the tables."""
        return str(self.folder / "tables")


def run(job: str, given: Sequence[str], out: Path, capfd: pytest.CaptureFixture[str]) -> Outcome:
    """A job with reports of all kinds, whole ones, and with its tables."""
    module = importlib.import_module(f"kafka_messages_spark.jobs.{job}")
    status = module.main([*given, *places(out)])
    printed = capfd.readouterr()
    return Outcome(status, {"stdout": printed.out.encode(), "stderr": printed.err.encode(), **files(out)}, out)


def places(out: Path) -> list[str]:
    """Arguments that say where tables and reports go, below a new folder."""
    out.mkdir()
    reports = [word for ending in REPORTS for word in ("--report", str(out / f"report.{ending}"))]
    return ["--output", str(out / "tables"), *reports, "--limit", "999"]


def files(out: Path) -> dict[str, bytes]:
    """All that is below a folder."""
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
