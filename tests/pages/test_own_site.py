"""The site of definitions unrelated to Kafka: a page compared with its golden file, and errors."""

from __future__ import annotations

import errno
import gzip
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from kafka_message_generator import cli
from kafka_message_generator.files import replace_file
from kafka_protocol_pages import cli as pages
from kafka_protocol_pages import site as site_module
from kafka_protocol_pages.package import PagesError
from kafka_protocol_pages.site import write
from tests.support.building import import_package, unique_name, write_specs
from tests.support.full_disk import fill_disk
from tests.support.goldens import matches_golden
from tests.support.markup import parsed
from tests.support.specs import field, message

GOLDEN = Path(__file__).parent / "goldens" / "Probe.html"
PROBE = message(
    field("Id", "int32", mapKey=False, default="-1", about="What it is called by."),
    field("Name", "string", "1+", nullableVersions="2+", ignorable=True, entityType="topicName"),
    field("Lines", "[]Line", fields=[field("Cents", "int64"), field("Text", "string", "3+")]),
    field("Hint", "uuid", "2+", taggedVersions="2+", tag=0),
    about="Probes <everything> & more.",
)


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ModuleType]:
    folder, name = tmp_path_factory.mktemp("probes"), unique_name()
    specs = write_specs(folder / "specs", PROBE)
    arguments = [
        "--specs",
        str(specs),
        "--output",
        str(folder / "package"),
        "--package",
        name,
        "--components",
        "explain",
    ]
    assert cli.main(["generate", *arguments]) == 0
    package = import_package(folder / "package" / "src", name)
    probe = package.Probe(id=7, name="é", lines=[package.Probe.Line(cents=995, text="tea")])
    samples = [(3, probe, {"id": 7, "name": "é", "lines": [{"cents": 995, "text": "tea"}]})]
    samples.append((3, package.Probe(id=7), {"id": 7}))
    write_samples(folder / "samples", *((version, each.write(version).hex(), out) for version, each, out in samples))
    return folder, package


def write_samples(folder: Path, *each: tuple[int, str, object]) -> None:
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / "probes.jsonl.gz", "wt", encoding="utf-8") as out:
        for version, data, json_out in each:
            entry = {"message": "Probe", "version": version, "sample": "own", "hex": data, "json_out": json_out}
            out.write(json.dumps(entry) + "\n")


def make(folder: Path, name: str, output: Path, samples: str = "samples", *more: str) -> int:
    arguments = ["--specs", str(folder / "specs"), "--samples", str(folder / samples), "--output", str(output)]
    return pages.main([*arguments, "--package", name, *more])


def test_message_page_of_own_definitions_matches_golden(probes: tuple[Path, ModuleType], tmp_path: Path) -> None:
    folder, package = probes
    assert make(folder, package.__name__, tmp_path / "site") == 0
    text = (tmp_path / "site" / "messages" / "Probe.html").read_text(encoding="utf-8")
    start, end = text.index('<main id="main">'), text.index("</main>")
    matches_golden(GOLDEN, text[start:end].replace(package.__name__, "probes"))


def test_site_has_only_pages_with_content(probes: tuple[Path, ModuleType], tmp_path: Path) -> None:
    folder, package = probes
    assert make(folder, package.__name__, tmp_path / "site") == 0
    there = {path.name for path in (tmp_path / "site").glob("*.html")}
    assert there == {f"{name}.html" for name in ("index", "messages", "entities", "paste", "tags", "types")}
    page = parsed((tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    assert {link for link in page.links if link.endswith(".html") and "/" not in link} == there


def test_unchanged_site_is_not_rewritten(
    probes: tuple[Path, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, package = probes
    assert make(folder, package.__name__, tmp_path / "site") == 0
    assert ", 0 changed" not in capsys.readouterr().out
    assert make(folder, package.__name__, tmp_path / "site") == 0
    assert ", 0 changed" in capsys.readouterr().out


def test_stale_pages_are_removed(probes: tuple[Path, ModuleType], tmp_path: Path) -> None:
    folder, package = probes
    site = tmp_path / "site"
    assert make(folder, package.__name__, site) == 0
    old = site / "messages" / "Old.html"
    old.write_text("old")
    (site / "assets" / "files.txt").write_text((site / "assets" / "files.txt").read_text() + "messages/Old.html\n")
    (site / "CNAME").write_text("mine")
    assert make(folder, package.__name__, site) == 0
    assert not old.exists()
    assert (site / "CNAME").exists()


@pytest.mark.parametrize(
    "name",
    ["../victim.txt", "/victim.txt", "", "messages", "link/victim.txt", "a\0b", "\udcff/..", "./index.html", "a//b"],
)
def test_list_that_names_other_files_is_an_error(name: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site, {"messages/A.html": "a"})
    (tmp_path / "victim.txt").write_text("mine")
    (site / "link").symlink_to(tmp_path)
    named = str(tmp_path) + name if name.startswith("/") else name
    (site / "assets" / "files.txt").write_text(f"messages/A.html\n{named}\n", errors="surrogateescape")
    what = f"{named!r} is not a file of this site; restore the list, or use an empty folder"
    with pytest.raises(PagesError, match=re.escape(f"{site / 'assets' / 'files.txt'}: {what}")):
        write(site, {"messages/B.html": "b"})
    assert (tmp_path / "victim.txt").read_text() == "mine"
    assert sorted(path.name for path in (site / "messages").iterdir()) == ["A.html"]


@pytest.mark.parametrize("name", ["a.html/z", "n" * 300])
def test_listed_name_that_no_file_can_have_is_dropped(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"a.html": "a"})
    (tmp_path / "assets" / "files.txt").write_text(f"a.html\n{name}\n")
    assert write(tmp_path, {"a.html": "b"}) == ["assets/files.txt", "a.html"]
    assert (tmp_path / "assets" / "files.txt").read_text() == "a.html\n"


@pytest.mark.parametrize("link", ["messages", "messages/A.html"])
def test_page_is_not_written_through_a_link(link: str, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    write(site, {"messages/A.html": "a", "stale.html": "a"})
    (site / link).rename(elsewhere)
    (site / link).symlink_to(elsewhere)
    what = "a symbolic link, through which a file would be written; replace it by a copy"
    with pytest.raises(PagesError, match=re.escape(f"{site / link}: {what}")):
        write(site, {"messages/A.html": "b"})
    assert (site / "messages" / "A.html").read_text() == "a"
    assert (site / "stale.html").exists()


def test_interrupted_first_run_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, parts: list[bytes]) -> None:
        if path.name == "b.html":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        replace_file(path, parts)

    monkeypatch.setattr(site_module, "replace_file", fail)
    with pytest.raises(OSError, match="No space left on device"):
        write(tmp_path, {"a.html": "a", "b.html": "b"})
    monkeypatch.undo()
    assert write(tmp_path, {"a.html": "a", "b.html": "b"}) == ["b.html"]


def test_full_disk_leaves_the_earlier_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.html": "old"})
    fill_disk(monkeypatch)
    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{tmp_path / 'a.html'}'")):
        write(tmp_path, {"a.html": "new"})
    assert (tmp_path / "a.html").read_text() == "old"


def test_unrelated_folder_is_not_overwritten(
    probes: tuple[Path, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, package = probes
    (tmp_path / "mine.txt").write_text("mine")
    assert make(folder, package.__name__, tmp_path) == 1
    what = "not a generated site: it has files but no assets/files.txt; use an empty folder"
    assert capsys.readouterr().err == f"{tmp_path}: {what}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_missing_package_is_an_error(
    probes: tuple[Path, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make(probes[0], "no_such_package", tmp_path / "site") == 1
    assert capsys.readouterr().err == (
        "cannot import no_such_package.explain, which the pages need: No module named 'no_such_package'; "
        "install the generated package with this component\n"
    )


def test_missing_samples_folder_is_an_error(
    probes: tuple[Path, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, package = probes
    assert make(folder, package.__name__, tmp_path / "site", "smaples") == 1
    assert capsys.readouterr().err == f"{folder / 'smaples'}: folder not found\n"


def test_package_of_other_definitions_is_an_error(
    probes: tuple[Path, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make(probes[0], "kafka_messages", tmp_path / "site") == 1
    assert capsys.readouterr().err == (
        "the installed kafka_messages has no Probe; install the package generated from these definitions\n"
    )
    write_specs(tmp_path / "specs", message(field("Id", "int64")))
    write_samples(tmp_path / "samples")
    name = probes[1].__name__
    assert make(tmp_path, name, tmp_path / "site") == 1
    what = "has a different definition of Probe; install the package generated from these definitions"
    assert capsys.readouterr().err == f"the installed {name} {what}\n"


def test_markdown_page_at_a_reserved_path_is_an_error(
    probes: tuple[Path, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("# T\n\n[i](index.md)\n")
    (tmp_path / "index.md").write_text("# I\n")
    assert make(probes[0], probes[1].__name__, tmp_path / "site", "samples", "--docs", str(tmp_path)) == 1
    what = "index.html: path reserved for generated pages; rename or move the Markdown file\n"
    assert capsys.readouterr().err == what


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (
            "00000007",
            "sample of Probe v3 cannot be decoded: Probe v3: name: UNSIGNED_VARINT: 1 byte needed at offset 4, 0 left",
        ),
        (
            "0",
            "{folder}/broken/probes.jsonl.gz:1: not a test vector, "
            "expected a JSON object with message, version, sample, hex and json_out",
        ),
    ],
)
def test_invalid_sample_is_an_error(
    sample: str,
    reason: str,
    probes: tuple[Path, ModuleType],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, package = probes
    write_samples(folder / "broken", (3, sample, {"id": 7}))
    assert make(folder, package.__name__, tmp_path / "site", "broken") == 1
    assert capsys.readouterr().err == f"{reason.format(folder=folder)}\n"
    assert not (tmp_path / "site").exists()
