"""The command kafka-messages-spark."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from kafka_messages_spark import __main__ as program
from kafka_messages_spark import jobs

ROOT = Path(__file__).parents[2]


def test_all_jobs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(program.JOBS) == {each.name for each in pkgutil.iter_modules(jobs.__path__) if each.name[0] != "_"}
    with pytest.raises(SystemExit) as ended:
        program.main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed if line.split()[:1] and line.split()[0] in program.JOBS] == list(
        program.JOBS
    )
    assert max(map(len, printed)) <= 100


def test_arguments_are_passed_to_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []

    def run(argv: list[str]) -> int:
        given.append(argv)
        return 1

    job = SimpleNamespace(main=run)
    monkeypatch.setitem(sys.modules, "kafka_messages_spark.jobs.groups", cast(ModuleType, job))
    assert program.main(["groups", "logs", "--limit", "3", "--help"]) == 1
    assert given == [["logs", "--limit", "3", "--help"]]


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (
            ["group"],
            "argument JOB: invalid choice: 'group' (choose from transactions, groups, metadata_diff, segments, "
            "replicas, encodings, inventory, batching, internal_topics)",
        ),
        ([], "the following arguments are required: JOB"),
    ],
    ids=["unknown", "none"],
)
def test_unknown_job_exits_with_2(argv: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(argv)
    assert ended.value.code == 2
    usage, reported = capsys.readouterr().err.splitlines()
    assert usage == "usage: kafka-messages-spark JOB ..."
    assert reported.replace("'", "") == f"kafka-messages-spark: error: {error}".replace("'", "")  # quotes vary


def test_missing_pyspark_exits_with_2(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", cast(ModuleType, None))  # as if it were not installed
    assert program.main(["groups", "logs"]) == 2
    assert capsys.readouterr().err == (
        "kafka-messages-spark: error: PySpark is not installed; run pip install 'pyspark>=4.1,<5'\n"
    )


def test_help_needs_no_spark() -> None:
    script = (
        "import sys; sys.modules['pyspark'] = None; from kafka_messages_spark.__main__ import main; main(['--help'])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120).returncode == 0


def test_usage_contains_program_and_job(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for command, usage in (("bin/kafka-messages-spark", "kafka-messages-spark groups"), ("groups.py", "groups")):
        monkeypatch.setattr(sys, "argv", [command, "groups", "--help"])
        with pytest.raises(SystemExit):
            program.main(["groups", "--help"])
        assert capsys.readouterr().out.startswith(f"usage: {usage} [-h]")


def test_entry_point_is_the_main_function() -> None:
    project = tomllib.loads((ROOT / "packages" / "pipeline" / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"kafka-messages-spark": f"{program.__name__}:{program.main.__name__}"}
