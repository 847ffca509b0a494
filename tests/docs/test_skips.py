"""Reasons of skipped tests: the list of CI, and those for files outside the repository."""

from __future__ import annotations

from pathlib import Path

from tests.support import outside, pages


def test_skip_reason_names_the_missing_file_and_a_replacement(tmp_path: Path) -> None:
    mark = outside.needs(
        tmp_path / "old.gz", "an older Kafka's bytes", "the folder vectors has those of the release"
    ).mark
    assert mark.args == (True,)
    reason = "old.gz (an older Kafka's bytes) is not in the repository, which is expected; "
    assert mark.kwargs == {"reason": f"{reason}the folder vectors has those of the release"}


def test_only_one_module_refers_to_the_shared_folder() -> None:
    files = (path for path in (pages.ROOT / "tests").rglob("*.py") if path != Path(__file__))
    names = [
        path.relative_to(pages.ROOT).as_posix() for path in files if '/ "shared"' in path.read_text(encoding="utf-8")
    ]
    assert names == ["tests/support/outside.py"]


def test_reasons_that_ci_accepts_occur_in_the_tests() -> None:
    computed = ["go is not installed"]
    listed = (pages.ROOT / ".ci" / "skips.txt").read_text(encoding="utf-8").splitlines()
    files = (path for path in (pages.ROOT / "tests").rglob("*.py") if path != Path(__file__))
    texts = "\n".join(path.read_text(encoding="utf-8") for path in files)
    reasons = [line for line in listed if line and not line.startswith("#")]
    assert [reason for reason in reasons if reason not in texts] == computed
