"""Reasons of skipped tests in a fresh clone."""

from __future__ import annotations

from pathlib import Path

from tests.support import outside, pages


def test_skip_reason_describes_the_missing_file(tmp_path: Path) -> None:
    mark = outside.needs(
        tmp_path / "old.gz", "an older Kafka's bytes", "the folder vectors has those of the release"
    ).mark
    assert mark.args == (True,)
    reason = "old.gz (an older Kafka's bytes) is not part of the repository, nothing is to be done; "
    assert mark.kwargs == {"reason": f"{reason}the folder vectors has those of the release"}


def test_no_other_file_refers_to_shared_folder() -> None:
    files = (path for path in (pages.ROOT / "tests").rglob("*.py") if path != Path(__file__))
    names = [
        path.relative_to(pages.ROOT).as_posix() for path in files if '/ "shared"' in path.read_text(encoding="utf-8")
    ]
    assert names == ["tests/support/outside.py"]
