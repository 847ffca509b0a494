"""Runs pipeline jobs in this process and keeps their output."""

from __future__ import annotations

import importlib
import json
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
    exit_status: int
    outputs: Mapping[str, bytes]  # all output by place: files as they are, and stdout
    folder: Path

    @property
    def tables(self) -> str:
        """Return the folder of the tables."""
        return str(self.folder / "tables")


def run(job: str, given: Sequence[str], out: Path, capfd: pytest.CaptureFixture[str]) -> Outcome:
    """Run a job with full reports of all kinds, and with its tables."""
    module = importlib.import_module(f"kafka_messages_spark.jobs.{job}")
    status = module.main([*given, *places(out)])
    printed = capfd.readouterr()
    return Outcome(status, {"stdout": printed.out.encode(), "stderr": printed.err.encode(), **files(out)}, out)


def findings(done: Outcome) -> dict[str, int]:
    """Return the number of findings by kind, without those of severity ``info``."""
    report = json.loads(done.outputs["report.json"])
    return {each["kind"]: each["count"] for each in report["findings"] if each["severity"] != "info"}


def places(out: Path) -> list[str]:
    """Return the arguments for tables and reports below a new folder."""
    out.mkdir()
    reports = [word for ending in REPORTS for word in ("--report", str(out / f"report.{ending}"))]
    return ["--output", str(out / "tables"), *reports, "--limit", "999"]


def files(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
