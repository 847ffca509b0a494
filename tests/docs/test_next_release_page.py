"""The blocks of docs/next-release.md: a proposal becomes a report and a package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_message_generator import cli as generator
from kafka_protocol_upstream.cli import main
from kafka_protocol_upstream.publish.doc_blocks import blocks
from tests.support.next_release import SETTINGS, changed_definitions, small_release

PAGE = "docs/next-release.md"
BLOCKS = blocks(PAGE)
SESSION = "nox -s import-release -- "


def texts(language: str) -> list[str]:
    return [block.text for block in BLOCKS if block.language == language]


def test_blocks_of_the_page_lead_from_a_proposal_to_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small_release(tmp_path)
    settings = SETTINGS.replace("next-messages", "kafka-messages").replace("next_messages", "kafka_messages")
    Path("specs/kafka/package.toml").write_text(settings)
    Path("proposal").mkdir()
    for name, text in zip(("ListQuotasRequest", "ListQuotasResponse"), texts("json"), strict=True):
        Path("proposal", f"{name}.json").write_text(text)
    make, use = texts("python")
    exec(compile(make, PAGE, "exec"), {})
    assert {path.name for path in Path("proposal").iterdir()} == changed_definitions(Path("specs/kafka")).keys()
    report, write = (block.strip() for block in texts("sh"))
    for command in (report, write):
        assert command.startswith(SESSION)
        assert main(["import-release", *command.removeprefix(SESSION).split()]) == 0
        printed = capsys.readouterr().out
        assert texts("")[0] in printed
    assert Path("impact.html").is_file()
    assert generator.main(["generate", "--specs", "specs/kafka", "--output", "generated"]) == 0
    environment = {**os.environ, "PYTHONPATH": "generated/src"}
    done = subprocess.run([sys.executable, "-c", use], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [line.partition("  # ")[2] for line in use.splitlines() if "  # " in line]
