"""Pages with the changes of each release, and the release columns of other pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from kafka_messages.history import RELEASES, error_code_since, fields_since

from kafka_message_generator import cli
from kafka_message_generator.compat import store
from kafka_protocol_pages import cli as pages_cli
from tests.support.building import import_package, unique_name, write_specs
from tests.support.goldens import matches_golden
from tests.support.markup import Element, Parsed
from tests.support.specs import field, message

GOLDEN = Path(__file__).parent / "goldens" / "release-2.0.0.html"
NEW = message(
    field("Id", "int32"),
    field("Name", "string", "1+", nullableVersions="2+"),
    field("Lines", "[]Line", "3+", fields=[field("Cents", "int64", "3+")]),
    field("Hint", "uuid", "2+", taggedVersions="2+", tag=0),
    field("Late", "string", "2+", taggedVersions="2+", tag=1),
    about="Probes.",
    validVersions="1-3",
)
OLD = message(
    field("Id", "int32"),
    field("Name", "string", "1+", nullableVersions="2+"),
    field("Hint", "uuid", "2+", taggedVersions="2+", tag=0),
    field("Weight", "int16", "0"),
    validVersions="0-2",
)
MOVED = message(field("At"), name="Moved", validVersions="0")
GONE = message(field("A"), name="Gone", validVersions="0-1")


def rows(page: Parsed, label: str) -> Iterator[list[str]]:
    (region,) = (each for each in page.root.all("div", "wide") if each.attributes["aria-label"] == label)
    for row in region.one("tbody").all("tr"):
        yield [" ".join(cell.text.split()) for cell in row.inside if isinstance(cell, Element)]


def test_each_release_has_a_page(pages: Mapping[str, Parsed]) -> None:
    assert {path for path in pages if path.startswith("releases/")} == {f"releases/{each}.html" for each in RELEASES}
    listed = [row[0] for row in rows(pages["releases.html"], "Releases")]
    assert listed == list(reversed(RELEASES))
    assert "releases.html" in pages["index.html"].links


def test_release_page_lists_the_changes_of_the_release(pages: Mapping[str, Parsed]) -> None:
    dropped = {row[0]: row[1:] for row in rows(pages["releases/4.0.0.html"], "Versions dropped")}
    assert dropped["FetchRequest"] == ["0-3", ""]
    assert dropped["ListOffsetsRequest"] == ["0", "topics.partitions.max_num_offsets"]
    assert dropped["LeaderAndIsrRequest"] == ["0-7", "the message"]
    new = {(row[0], row[1]): row[2] for row in rows(pages["releases/3.1.0.html"], "New versions")}
    assert new["FetchRequest", "13"] == (
        "KIP-516 new topics.topic_id, forgotten_topics_data.topic_id removed topics.topic, forgotten_topics_data.topic"
    )
    late = [term.text for term in pages["releases/3.4.0.html"].root.one("dl", "holders").all("dd")]
    assert "zk_migration_ready" in late
    codes = {link for link in pages["releases/4.4.0.html"].links if "errors.html#" in link}
    assert "../errors.html#CONTROLLER_ID_NOT_REGISTERED" in codes
    broken = {row[0]: row[1:] for row in rows(pages["releases/2.4.0.html"], "Versions whose bytes changed")}
    assert broken == {"RequestHeader": ["0", "ClientId: string", "the end", "a field was removed"]}


def test_older_message_is_not_new_in_the_release_that_first_defines_it(pages: Mapping[str, Parsed]) -> None:
    page = pages["releases/4.4.0.html"]
    assert "AbortedTxn" not in [row[0] for row in rows(page, "Messages")]
    (holders,) = (each for each in page.root.all("dl", "holders") if "AbortedTxn" in each.text)
    assert [each.text for each in (*holders.all("dt"), *holders.all("dd"))] == ["AbortedTxn", "v0"]
    since = pages["messages/AbortedTxn.html"].root
    assert "before Kafka 4.4.0, which defines it first" in " ".join(since.text.split())
    assert any(cell.text.strip() == "<4.4.0" for cell in since.all("td", "since"))


KINDS = ("Request", "Response")


def test_message_that_an_earlier_release_had_as_unstable_is_marked(pages: Mapping[str, Parsed]) -> None:
    """Kafka 3.9.0 defined the APIs of share groups as unstable."""
    new = {row[0]: row[3] for row in rows(pages["releases/4.1.0.html"], "Messages")}
    assert new["ReadShareGroupStateRequest"] == "0 unstable since 3.9.0"
    names = (
        f"Share{each}{kind}" for each in ("Fetch", "Acknowledge", "GroupDescribe", "GroupHeartbeat") for kind in KINDS
    )
    assert {new[name] for name in names} == {"1 unstable since 3.9.0"}  # version 0 was unstable
    assert sum(versions.endswith("unstable since 3.9.0") for versions in new.values()) == 18
    text = " ".join(pages["messages/ReadShareGroupStateRequest.html"].root.one("main").text.split())
    assert "Stable since Kafka 4.1.0, unstable since Kafka 3.9.0." in text
    changed = {row[0]: row[1] for row in rows(pages["releases/4.2.0.html"], "New versions")}
    assert changed["OffsetFetchRequest"] == "10 unstable since 4.1.0"


def test_new_version_omits_fields_that_a_later_release_added(pages: Mapping[str, Parsed]) -> None:
    new = {(row[0], row[1]): row[2] for row in rows(pages["releases/2.4.0.html"], "New versions")}
    assert new["ApiVersionsResponse", "3"] == "flexible: compact lengths, tagged fields"


def test_release_page_states_that_nothing_changed(pages: Mapping[str, Parsed]) -> None:
    text = " ".join(pages["releases/2.8.1.html"].root.one("main").text.split())
    assert "Messages and error codes are those of Kafka 2.8.0." in text
    assert "2.8.0.html" in pages["releases/2.8.1.html"].links


def test_field_table_shows_the_first_and_the_removing_release(pages: Mapping[str, Parsed]) -> None:
    matrix = pages["messages/ListOffsetsRequest.html"].root.one("table", "matrix")
    lifetimes = {
        line.one("th").text: [cell.text for cell in line.all("td")]
        for line in matrix.one("thead").all("tr", "lifetimes")
    }
    assert lifetimes["since"][:5] == ["≤2.2.0", "≤2.2.0", "≤2.2.0", "≤2.2.0", "6: 2.8.0, 7: 3.0.0, 8: 3.5.0, 9: 3.9.0"]
    assert lifetimes["until"][:2] == ["4.0.0", ""]
    releases = fields_since("ListOffsetsRequest")
    for line in matrix.one("tbody").all("tr"):
        path, cell = line.one("th").attributes["title"], line.one("td", "since")
        links = [link.attributes["href"] for link in cell.all("a")]
        assert links[0] == f"../releases/{releases[path]}.html"
    gone = next(line for line in matrix.all("tr") if line.attributes.get("id", "").endswith("max_num_offsets"))
    assert " ".join(gone.one("td", "since").text.split()) == "≤2.2.0 until 4.0.0"


def test_version_that_one_release_lacked_is_marked_as_restored(pages: Mapping[str, Parsed]) -> None:
    back = {(row[0], row[1]): row[2] for row in rows(pages["releases/4.0.1.html"], "New versions")}
    assert back == {
        (f"JoinGroup{side}", str(version)): "restored" for side in ("Request", "Response") for version in (0, 1)
    }
    head = pages["messages/JoinGroupRequest.html"].root.one("table", "matrix").one("thead")
    (missing,) = (line for line in head.all("tr", "lifetimes") if line.one("th").text == "not in")
    assert [cell.text for cell in missing.all("td")][:3] == ["4.0.0", "1: 4.0.0", ""]


def test_version_page_states_first_and_removing_release(pages: Mapping[str, Parsed]) -> None:
    text = " ".join(pages["messages/FetchRequest-v3.html"].root.one("main").text.split())
    assert "Since Kafka 2.2.0 or before, until Kafka 4.0.0." in text


def test_error_code_table_shows_first_release_and_former_name(pages: Mapping[str, Parsed]) -> None:
    for row in rows(pages["errors.html"], "Error codes"):
        assert row[4].removeprefix("≤") == error_code_since(int(row[0]))
    assert next(row for row in rows(pages["errors.html"], "Error codes") if row[0] == "6")[2] == (
        "NOT_LEADER_OR_FOLLOWER formerly NOT_LEADER_FOR_PARTITION"
    )


def test_search_index_contains_releases(site: Path) -> None:
    script = (site / "assets" / "search.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("const SEARCH = ").removesuffix(";\n"))
    assert index["releases"] == list(reversed(RELEASES))


@pytest.fixture(scope="module")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, name = tmp_path_factory.mktemp("releases"), unique_name()
    specs = write_specs(folder / "specs", NEW, MOVED)
    (specs / "package.toml").write_text(
        '[package]\ncomponents = ["explain", "history"]\n\n[definitions]\nolder = ["../history"]\n'
    )
    texts = {
        "1.0.0": {"Probe": OLD, "Moved": MOVED, "Gone": GONE},
        "2.0.0": {"Probe": NEW, "Moved": MOVED},
    }
    releases: store.Releases = {
        release: ({}, {each: ("", json.dumps(text)) for each, text in found.items()})
        for release, found in texts.items()
    }
    (folder / "history").mkdir()
    store.write(folder / "history", releases, {})
    arguments = ["--specs", str(specs), "--output", str(folder / "package"), "--package", name]
    assert cli.main(["generate", *arguments]) == 0
    import_package(folder / "package" / "src", name)
    arguments = ["--specs", str(specs), "--output", str(folder / "site"), "--package", name]
    assert pages_cli.main(arguments) == 0
    return folder / "site"


def test_release_page_matches_golden(own_site: Path) -> None:
    text = (own_site / "releases" / "2.0.0.html").read_text(encoding="utf-8")
    start, end = text.index('<main id="main">'), text.index("</main>")
    matches_golden(GOLDEN, text[start:end])
