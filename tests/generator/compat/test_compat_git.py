"""The command ``compat`` between revisions of a Git repository."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.compat_command import CHANGED, RELEASED, run
from tests.support.pages import ROOT


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a repository with two commits: the released and the changed definition, each in two folders."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    monkeypatch.chdir(tmp_path)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([git, "init", "-q"], check=True)
    for text in (RELEASED, CHANGED):
        for folder in ("specs/kafka", "own"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / "OrderRecord.json").write_text(text)
        for words in (["add", "."], [*who, "commit", "-qm", "One"]):
            subprocess.run([git, *words], check=True)
    return tmp_path


def test_git_revision_is_compared_with_folder(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--old", "git:HEAD~1", "--new", "own") == 1
    assert "was Id: int32; is Id: int64" in capsys.readouterr().out
    assert run("--old", "git:HEAD~1:own", "--new", "own") == 1
    assert run("--old", "git:nowhere", "--new", "own") == 3
    assert capsys.readouterr().err.startswith("git:nowhere: fatal: not a valid object name")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("git:HEAD~1", "git:HEAD", "specs/kafka"),
        ("git:HEAD~1", "git:HEAD:own", "own"),
        ("git:HEAD~1:own", "git:HEAD", "own"),
    ],
)
def test_locations_between_git_revisions_are_repository_paths(
    old: str, new: str, place: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--old", old, "--new", new, "--format", "sarif") == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": f"{place}/OrderRecord.json"}


def test_repository_option_names_the_repository_of_revisions(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = repository.parent / f"{repository.name}-elsewhere"
    outside.mkdir()
    monkeypatch.chdir(outside)
    (outside / "new").mkdir()
    (outside / "new" / "OrderRecord.json").write_text(CHANGED)
    words = ("--repository", str(repository))
    assert run("--old", "git:HEAD~1:own", "--new", "new", *words) == 1
    assert "was Id: int32; is Id: int64" in capsys.readouterr().out
    assert run("--old", "git:HEAD~1:own", "--new", "git:HEAD:own", *words) == 1
    capsys.readouterr()
    assert run("--old", "git:HEAD~1:own", "--new", "new", "--repository", "nowhere") == 3
    assert capsys.readouterr().err == (
        "nowhere: folder not found; name a Git repository with --repository\nnothing was compared\n"
    )


def test_git_revision_is_compared_with_release(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "specs" / "history", "history")
    words = ("--history", "history")
    assert run("--old", "git:HEAD", "--new", "release:4.4.0", *words) in (0, 1)
    assert "\nKafka 4.4.0 against git:HEAD:\n  0 released message versions proved equal\n" in capsys.readouterr().out


def test_invalid_definition_in_git_revision_exits_with_3(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "own" / "OrderRecord.json").write_text(RELEASED.replace("int32", "int33"))
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "commit", "-qam", "Wrong"], check=True)
    assert run("--old", "own", "--new", "git:HEAD") == 3
    assert capsys.readouterr().err.startswith("own/OrderRecord.json:8: $.fields[0].type: unknown type 'int33'")


def test_git_timeout_exits_with_3(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def waiting(command: list[str], **rest: object) -> None:
        raise subprocess.TimeoutExpired(command, 300)

    monkeypatch.setattr(subprocess, "run", waiting)
    assert run("--old", "git:HEAD", "--new", "own") == 3
    assert capsys.readouterr().err == ("git:HEAD: git rev-parse timed out after 300 seconds\nnothing was compared\n")


def test_missing_git_exits_with_3(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(repository / "nowhere"))
    assert run("--old", "git:HEAD", "--new", "own") == 3
    assert capsys.readouterr().err == "git:HEAD: git is required; install it\nnothing was compared\n"


def test_absolute_symlink_in_git_revision_exits_with_3(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "own" / "Link.json").symlink_to("/etc/hostname")
    for words in (["add", "."], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Link"]):
        subprocess.run(["git", *words], check=True)
    assert run("--old", "git:HEAD:own", "--new", "specs/kafka") == 3
    assert capsys.readouterr().err == (
        "git:HEAD:own: cannot unpack the output of git archive: 'own/Link.json' is a link to an absolute path\n"
        "nothing was compared\n"
    )


def test_file_outside_the_git_repository_exits_with_3(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = repository.parent / f"{repository.name}-outside"
    shutil.copytree(repository / "own", outside)
    (repository / "Linked.json").symlink_to(outside / "OrderRecord.json")
    assert run("--old", "git:HEAD", "--new", "Linked.json") == 3
    assert capsys.readouterr().err == (
        f"git:HEAD: Linked.json is not in {repository.resolve().as_posix()}; name the folder as git:HEAD:FOLDER\n"
        "nothing was compared\n"
    )
