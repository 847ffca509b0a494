"""Python blocks of the documentation print the output that the pages show; links, paths and lists are right."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import pages
from tests.support.cluster import COMMITTED

WITH_PYTHON = [page for page in pages.pages() if pages.to_run(page, "python")]
NEEDS_ARROW = [page for page in WITH_PYTHON if "pyarrow" in pages.module(page)]
ALONE = [page for page in WITH_PYTHON if page not in pages.about_spark()]
CODE = re.compile(r">>> |from |import |\$ |nox |pip |python ")
"""First words of code and commands; a block of output must not start with them."""
BESIDE = ("CONTRIBUTING.md", "SECURITY.md")
"""Pages for contributors, whose blocks are not run."""
LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE = ("site", "dist", "build")
"""Folders that nox sessions write; they do not exist in a clone."""


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """Disable the deadlines of Hypothesis for the programs of pages."""
    before = settings.get_current_profile_name()
    settings.register_profile("pages", deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
    settings.load_profile("pages")
    yield
    settings.load_profile(before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a new folder that contains only a link to ``examples``."""
    (tmp_path / "examples").symlink_to(pages.ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", ALONE)
def test_python_blocks_print_the_documented_output(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    if page in NEEDS_ARROW and not (find_spec("pyarrow") and find_spec("numpy")):
        pytest.skip("the extra `arrow` is not installed")
    pages.run(page, {"__name__": "__main__"})
    printed = iter(capsys.readouterr().out.splitlines())
    assert [line for line in pages.documented_output(page) if line not in printed] == []


def test_expected_output_is_read_from_comments_and_blocks() -> None:
    below, block = pages.documented_output("docs/guide/versions.md"), pages.documented_output("docs/numbers.md")
    assert "topics[0].topic_id: dropped, only versions 10+ have this field" in below
    assert "()" in below
    assert "brokers MetadataResponseBroker 0+ none" in block


@pytest.mark.parametrize("page", pages.pages())
def test_every_block_has_a_known_language(page: str) -> None:
    text = pages.text(page)
    blocks = pages.blocks(page)
    assert [block.place for block in blocks if block.language not in pages.LANGUAGES] == []
    assert [block.place for block in blocks if block.language == "" and CODE.match(block.text)] == []
    assert text.count("```") == 2 * len(blocks)
    assert text.count("<!-- not run:") == sum(block.not_run is not None for block in blocks)
    without = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"\n\n    .*", without) == []


@pytest.mark.parametrize("page", ["README.md", "generated/README.md"])
def test_sample_bytes_of_readmes_occur_in_recorded_traffic(page: str) -> None:
    data = bytes.fromhex("".join(re.findall(r'"([0-9a-f]{40,})"', pages.to_run(page, "python")[0].text)))
    assert len(data) > 50
    assert [path.name for path in sorted((COMMITTED / "traffic").iterdir()) if data in path.read_bytes()]


@pytest.mark.parametrize("page", [*pages.pages(), *BESIDE, "benchmarks/README.md", "packages/vectors/README.md"])
def test_links_lead_to_existing_files_and_headings(page: str) -> None:
    folder = (pages.ROOT / page).parent
    text = pages.text(page)
    for target in LINK.findall(text):
        if "://" not in target:
            path, _, heading = target.partition("#")
            found = folder / path if path else pages.ROOT / page
            assert found.exists(), target
            assert not heading or heading in _headings(found.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("page", [*pages.pages(), *BESIDE])
def test_paths_of_existing_files_in_backquotes_are_links(page: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", pages.text(page), flags=re.MULTILINE | re.DOTALL)
    quoted = set(re.findall(r"(?<!\[)`(\w[\w.-]*/[\w./-]*|[\w.-]+\.md)`", prose))
    folders = (pages.ROOT, (pages.ROOT / page).parent)
    assert [name for name in sorted(quoted) if exists_in(name, folders)] == []


def exists_in(name: str, folders: Iterable[Path]) -> bool:
    return name.split("/")[0] not in MADE and any((folder / name).exists() for folder in folders)


def _headings(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_docs_index_lists_every_page() -> None:
    docs = pages.ROOT / "docs"
    listed = {(docs / target.partition("#")[0]).resolve() for target in LINK.findall(pages.text("docs/README.md"))}
    assert {path for path in docs.rglob("*.md") if path.resolve() not in listed} == {docs / "README.md"}


def test_readme_of_kafka_messages_lists_every_module_and_extra() -> None:
    generated = pages.ROOT / "generated"
    with (generated / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    modules = {path.stem for path in (generated / "src/kafka_messages").iterdir() if not path.name.startswith("_")}
    first_cells = set(re.findall(r"^\| `([\w.]+)` \|", pages.text("generated/README.md"), re.MULTILINE))
    expected = {"kafka_messages"} | {f"kafka_messages.{name}" for name in modules - {"py", "messages"}} | extras
    assert first_cells == expected
