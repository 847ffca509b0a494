"""The demo on a real broker's files and on other folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "pipeline_demo.py"
NOISE = "[2026-11-21 11:48:40,001] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DEMO), str(folder)]
    environment["PYTHONWARNINGS"] = "ignore:columns are built from message objects"  # if the native core is missing
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=os.environ | environment
    )


def test_demo_skips_foreign_files_and_reports_the_rest(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    shutil.copytree(ROOT / "examples" / "cluster" / "logs", folder)
    (folder / "server.log").write_text(NOISE * 100)
    (folder / "readings-1").mkdir()
    (folder / "readings-1" / f"{0:020}.log").touch()
    done = run(folder)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert f"skipped {folder}/server.log: not a segment" in " ".join(done.stdout.split())
    words = [line.split() for line in lines]
    table = next(at for at, row in enumerate(words) if row[:2] == ["topic", "partitions"])
    assert {row[0]: row[1:3] for row in words[table + 1 : table + 11]}.items() >= {
        "readings": ["2", "15"],
        "returns": ["1", "0"],
    }.items()
    assert ["exactly-once", "orders", "1", "11", "in", "a", "transaction"] in [row[2:] for row in words]
    assert ["clicks", "compression.type", "-"] in [row[3:] for row in words]
    assert [row[:6] for row in words if row[:1] == ["hanging"]] == [["hanging", "payments", "1", "13", "0", "pay-late"]]
    assert max(map(len, lines)) <= 100
    shown = (ROOT / "docs/spark.md").read_text().split("This is a part of the report:\n\n```\n")[1].split("```\n")[0]
    assert shown in done.stdout


def empty(place: Path) -> None:
    place.mkdir()


def text(place: Path) -> None:
    place.write_text(NOISE)


def only_text(place: Path) -> None:
    place.mkdir()
    (place / "server.log").write_text(NOISE)


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (Path.exists, "[PATH_NOT_FOUND] Path does not exist: {}."),
        (empty, "no segments in {}"),
        (text, "no segments in {}; not a segment: {}"),
        (only_text, "no segments in {}; not a segment: {}/server.log"),
    ],
    ids=["nothing", "empty", "text", "text in a folder"],
)
def test_demo_without_segments_exits_with_2(tmp_path: Path, make: Callable[[Path], object], want: str) -> None:
    make(tmp_path / "it")
    done = run(tmp_path / "it", JAVA_HOME=str(tmp_path / "no java"))
    error = f"pipeline_demo: error: {want.replace('{}', str(tmp_path / 'it'))}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", error)
