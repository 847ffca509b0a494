"""The reason for a test that is skipped because the repository lacks its file."""

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
