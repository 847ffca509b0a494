"""The program that ``nox -s release -- commands`` uses to run the shell blocks of the documentation."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from kafka_protocol_upstream.publish import doc_commands
from kafka_protocol_upstream.publish.doc_blocks import Block
from tests.support import pages

ALL = [block for page in pages.pages() for block in pages.to_run(page, "sh")]


def test_only_the_first_block_creates_the_environment() -> None:
    assert ALL[0].text.startswith(doc_commands.FIRST)
    assert not any(block.text.startswith(doc_commands.FIRST) for block in ALL[1:])


def test_every_block_listed_as_slow_is_in_the_documentation() -> None:
    assert [start for start in doc_commands.SLOW if not any(block.text.startswith(start) for block in ALL)] == []
    assert [block for block in ALL if doc_commands.reason_to_skip(block) is None]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    activate = tmp_path / ".venv/bin/activate"
    activate.parent.mkdir(parents=True)
    activate.write_text("export ACTIVE=yes\n")
    return tmp_path


def test_successful_block_is_reported_as_ok(
    clone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    text = 'test "$ACTIVE" = yes && test -z "${PYTHONPATH-}" && touch made && echo done\n'
    assert doc_commands.run(Block("a.md", 7, "sh", text, None), clone)
    assert (clone / "made").exists()
    assert re.fullmatch(r"a\.md:7: ok in \d+ s\n", capsys.readouterr().out)


def test_failing_block_reports_status_and_output(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not doc_commands.run(Block("a.md", 7, "sh", "echo before\nfalse | cat\necho after >&2\n", None), clone)
    assert re.fullmatch(r"a\.md:7: exit status 1 in \d+ s\nbefore\n", capsys.readouterr().out)


@pytest.mark.parametrize(("printed", "is_good"), [("Findings", True), ("Traceback (most recent call last)", False)])
def test_job_may_exit_with_1_unless_it_prints_a_traceback(
    printed: str, is_good: bool, clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / ".venv/bin/activate").write_text(f"python() {{ echo '{printed}'; return 1; }}\n")
    assert doc_commands.run(Block("a.md", 7, "sh", f"{doc_commands.JOB}segments logs\n", None), clone) == is_good
    assert (printed in capsys.readouterr().out) != is_good


def test_hanging_block_is_killed(
    clone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doc_commands, "LIMIT", 1)
    assert not doc_commands.run(Block("a.md", 7, "sh", "sleep 600 | cat\n", None), clone)
    assert capsys.readouterr().out.startswith("a.md:7: exit status -9 in ")


INSTALL = re.compile(r"(?:pip3?|pipx|uv pip) install ([^\n`]+)")


def installed_names(text: str) -> set[str]:
    """Return the names of the distributions that commands in a text install from an index."""
    words = [
        word
        for found in INSTALL.findall(text.replace("\\\n", " "))
        for word in shlex.split(found.partition("&&")[0], comments=True)
    ]
    return {re.split(r"[\[<>=!~; ]", word)[0].lower().replace("_", "-") for word in words if word[0] not in ".-"}


def test_installed_names_are_parsed_from_pip_commands() -> None:
    text = "`pip install 'Kafka_Messages[arrow]>=4'`\npip install nox ./native -r x.txt && pip install \"./generated[a]\"\n"
    assert installed_names(text) == {"kafka-messages", "nox", "x.txt"}


def test_no_page_installs_our_packages_from_an_index() -> None:
    projects = [*pages.ROOT.glob("*/pyproject.toml"), *pages.ROOT.glob("packages/*/pyproject.toml")]
    ours = {tomllib.loads(path.read_text(encoding="utf-8"))["project"]["name"] for path in projects}
    assert len(ours) >= 5
    beside = ["CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md", "packages/vectors/README.md"]
    wrong = {page: installed_names(pages.text(page)) & ours for page in [*pages.pages(), *beside]}
    assert {page: names for page, names in wrong.items() if names} == {}
