"""The fuzzer itself: it finds differences, repeats runs and cases, and records its runs."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.fuzz import build, record

cases: Any = pytest.importorskip("tests.fuzz.cases", exc_type=ImportError)


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(build.ROOT), *filter(None, sys.path)])
    command = [sys.executable, "-m", "tests.fuzz", *arguments]
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500)


def test_same_seed_repeats_the_run() -> None:
    def counts() -> Counter[str]:
        found: Counter[str] = Counter()
        for number in range(200):
            for case, _ in cases.CASES:
                case(random.Random(f"7 {number}"), found)
        return found

    first = counts()
    assert first == counts()
    assert {"read", "write", "size", "construct", "plan", "read left to the pure code"} <= first.keys()
    assert first["read"] + first["read_from"] == 200 > first["read left to the pure code"]


def test_message_differences_are_found() -> None:
    some = [sample for sample in cases.samples() if sample.cls.NAME == "HeartbeatRequest"]
    text = some[0].owner._plan
    for right, wrong in (("group_instance_id/s?=~", "group_instance_id/s?=x"), ("generation_id/i", "generation_id/I")):
        assert right in text
        bare = cases.bare_calls(some[0].cls, some[0].plan_of(text.replace(right, wrong)), some[0].package)
        with (
            mock.patch.multiple(cases, samples=lambda: some, printed_calls=lambda sample, bare=bare: bare),
            pytest.raises(cases.Difference, match=r"(?s)^HeartbeatRequest v\d+: \w+ of .*native: .*pure: "),
        ):
            read_and_write(5000)


def test_column_differences_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    columns: Any = pytest.importorskip("tests.fuzz.columns", exc_type=ImportError)
    from kafka_messages.arrow import columns as package

    def tried(case: Any) -> Counter[str]:
        found: Counter[str] = Counter()
        for number in range(60):
            case(random.Random(number), found)
        return found

    for case, name, counted in ((columns.decode, "decoded", "rows decoded"), (columns.encode, "encoded", "encode")):
        assert tried(case) == tried(case)
        assert tried(case)[counted] >= 40
        inner = getattr(package, name)

        def lossy(*args: Any, inner: Any = inner, **named: Any) -> Any:
            found = inner(*args, **named)
            return found.filter([False] * len(found)) if hasattr(found, "take") and len(found) else found

        with monkeypatch.context() as patched:
            patched.setattr(package, name, lossy)
            with pytest.raises(columns.Difference, match=r"(?s)^\w+ .*native: .*objects: "):
                tried(case)


def read_and_write(count: int) -> None:
    for number in range(count):
        cases.read(random.Random(number), Counter())
        cases.write(random.Random(number), Counter())


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["plain", pytest.param("sanitized", marks=pytest.mark.nightly)])
def test_fuzz_command_records_its_runs(kind: str, tmp_path: Path) -> None:
    options = ["--sanitize"] if kind == "sanitized" else []
    for seed in ("1", "2"):
        done = run(tmp_path, "--seconds", "3", "--seed", seed, *options)
        if done.returncode == 2 and "cannot build the fuzzer: " in done.stderr:
            pytest.skip(f"{done.stderr.strip()}; CI has gcc and its sanitizer libraries")
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith(f"seed {seed}, {kind} build, 3 s\nthis run: ")
    sums = record.sums(tmp_path / record.RECORD)
    assert sums.keys() == {kind}
    assert (sums[kind]["runs"], sums[kind]["read"] > 0, sums[kind]["write"] > 0) == (2, True, True)
    assert [run.seed for run in record.runs(tmp_path / record.RECORD)] == [1, 2]


def test_single_case_can_be_repeated(tmp_path: Path) -> None:
    done = run(tmp_path, "--seed", "1", "--case", "5")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / record.RECORD).exists()
