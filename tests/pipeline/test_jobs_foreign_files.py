"""Jobs skip and list files that are not segments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_messages_spark.jobs import segments, transactions
from kafka_messages_spark.sources._segment_ranges import is_foreign
from tests.pipeline.job_files import data, segment

TEXT = b"[2026-11-21 11:48:40,001] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
BATCH = data(0, transactional=False)
DAMAGED = BATCH[:-1] + bytes([BATCH[-1] ^ 1])


@pytest.mark.parametrize(
    ("name", "content", "foreign"),
    [
        ("server.log", TEXT * 20000, True),
        ("server.log", TEXT, True),
        ("server.log", b"?", True),
        ("server.log", DAMAGED, True),
        ("server.log", b"", False),
        ("server.log", bytes(4096), False),
        ("my copy.log", BATCH, False),
        ("my copy.log", DAMAGED + BATCH, False),
        (f"{0:020}.log", TEXT, False),
        (f"{0:020}-AAAAAAAAAAAAAAAAAAAAAA.log", TEXT, False),
        (f"{7:020}-{1:010}.checkpoint", TEXT, False),
        ("0.log", TEXT, True),
    ],
)
def test_foreign_file_is_detected(tmp_path: Path, name: str, content: bytes, foreign: bool) -> None:
    place = tmp_path / name
    place.write_bytes(content)
    assert is_foreign(str(place)) is foreign


def test_missing_file_is_not_foreign(tmp_path: Path) -> None:
    assert not is_foreign(str(tmp_path / "server.log"))


@pytest.mark.nightly
@pytest.mark.usefixtures("spark")
def test_server_log_is_skipped_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, "t-0", data(0))
    for place in ("controller.log", "server.log", "t-0/notes.log"):
        (tmp_path / place).write_bytes(TEXT * 3)
    assert transactions.main([str(tmp_path), "--quiet", "--limit", "2"]) == 0
    report = capsys.readouterr().out
    assert report.split("\n\n")[1] == (
        f"skipped  {tmp_path}/controller.log: not a segment\n"
        f"skipped  {tmp_path}/server.log: not a segment\n"
        "skipped  and 1 more"
    )
    assert "data               1 partitions, 1 files, 1 batches\n" in report
    segment(tmp_path, "t-0", TEXT * 3, base=9)
    assert transactions.main([str(tmp_path), "--quiet"]) == 1
    assert "Unreadable\n" in capsys.readouterr().out


def test_segments_job_reports_a_server_log_as_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "server.log").write_bytes(TEXT * 3)
    assert segments.main([str(tmp_path), "--quiet"]) == 1
    report = capsys.readouterr().out
    assert "error     foreign  " in report
    assert "skipped" not in report


START = """
import sys
from importlib import import_module
from pyspark.sql import SparkSession

def start(builder):
    raise SystemExit("a session was started")

SparkSession.Builder.getOrCreate = start
sys.exit(import_module(f"kafka_messages_spark.jobs.{sys.argv[1]}").main(sys.argv[2:]))
"""


def run_without_spark(*arguments: str) -> tuple[int, str]:
    """Return the exit status and the errors of a job, which exits if it starts a session."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    command = [sys.executable, "-c", START, *arguments]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def test_missing_segments_are_reported_before_spark_starts(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(TEXT)
    for place, want in (
        (tmp_path / "nothing", "[PATH_NOT_FOUND] Path does not exist: {}."),
        (tmp_path, "no segments in {}; not a segment: {}/server.log"),
    ):
        assert run_without_spark("groups", str(place)) == (2, f"groups: error: {want.replace('{}', str(place))}\n")
    for job in ("segments", "groups"):
        assert run_without_spark(job, str(tmp_path)) == (1, "a session was started\n")
        segment(tmp_path, "t-0", data(0))
