"""Changes since the previous version, anchors of versions, and the index of KIPs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_messages import all_messages
from kafka_messages.history import kips_of, since, versions_with_kip

from tests.support.markup import Element, Parsed


def words(element: Element) -> str:
    return " ".join(element.text.split())


def changes_of(pages: Mapping[str, Parsed], name: str) -> Iterator[tuple[int, str]]:
    """Yield each version of a message with its changes, from its page or the page of the version."""
    lists = list(pages[f"messages/{name}.html"].root.all("dl", "changed"))
    for each in lists:
        for row in each.all("div"):
            yield int(row.one("dt").text), words(row.one("dd", "changes-of"))
    for path, page in pages.items() if not lists else ():
        if path.startswith(f"messages/{name}-v"):
            found = list(page.root.all("ul", "changes"))
            yield int(path.rpartition("-v")[2].removesuffix(".html")), words(found[0]) if found else ""


def test_every_version_has_its_changes_since_the_previous_one(pages: Mapping[str, Parsed]) -> None:
    for info in all_messages():
        found = dict(changes_of(pages, info.name))
        assert sorted(found) == list(info.valid_versions), info.name
        first = [version for version, text in found.items() if text.endswith("no earlier version")]
        assert first == [info.valid_versions.lowest], info.name
        assert all(found.values()), info.name


def test_changes_name_fields_types_and_kips(pages: Mapping[str, Parsed]) -> None:
    fetch, versions = dict(changes_of(pages, "FetchRequest")), dict(changes_of(pages, "ApiVersionsRequest"))
    assert fetch[13] == (
        "KIP-516 new topics.topic_id, forgotten_topics_data.topic_id removed topics.topic, forgotten_topics_data.topic"
    )
    assert dict(changes_of(pages, "WriteShareGroupStateRequest"))[0] == "KIP-932 no earlier version"
    assert fetch[16] == "KIP-951 no changes to fields and bytes"
    assert fetch[12] == "flexible: compact lengths, tagged fields new cluster_id, topics.partitions.last_fetched_epoch"
    assert versions == {
        0: "no earlier version",
        1: "no changes to fields and bytes",
        2: "no changes to fields and bytes",
        3: "flexible: compact lengths, tagged fields new client_software_name, client_software_version",
        4: "no changes to fields and bytes",
        5: "KIP-1242 new cluster_id, node_id",
    }
    nullable = dict(changes_of(pages, "MetadataResponse"))
    assert nullable[12] == "changed topics.name: STRING → NULLABLE_STRING"


def test_every_version_of_every_message_has_an_anchor(pages: Mapping[str, Parsed]) -> None:
    wanted = {info.name: {f"v{version}" for version in info.valid_versions} for info in all_messages()}
    missing = {name: ids - set(pages[f"messages/{name}.html"].ids) for name, ids in wanted.items()}
    assert {name: ids for name, ids in missing.items() if ids} == {}
    page = pages["messages/MetadataResponse.html"]
    (link,) = (each for each in page.root.all("a") if each.attributes.get("id") == "v13")
    assert link.attributes["href"] == "MetadataResponse-v13.html"


def test_index_has_the_versions_of_every_kip(pages: Mapping[str, Parsed]) -> None:
    page = pages["kips.html"]
    found = {}
    for body in page.root.all("tbody"):
        rows = [[words(cell) for cell in row.all("td")] for row in body.all("tr")]
        found[body.attributes["id"]] = rows
    numbers = {kip for info in all_messages() for version in info.valid_versions for kip in kips_of(info.name, version)}
    assert list(found) == [f"KIP-{kip}" for kip in sorted(numbers, reverse=True)]
    for kip in numbers:
        versions = versions_with_kip(kip)
        assert [(name, version) for name, version, _ in found[f"KIP-{kip}"]] == [
            (name, f"v{version}") for name in sorted(versions) for version in versions[name]
        ]
    assert found["KIP-1242"] == [["ApiVersionsRequest", "v5", "4.4.0"], ["ApiVersionsResponse", "v5", "4.4.0"]]
    assert since("ApiVersionsRequest", 5) == "4.4.0"
    assert "messages/ApiVersionsRequest.html#v5" in page.links
    assert "../kips.html#KIP-1242" in pages["releases/4.4.0.html"].links
    assert "../messages/ApiVersionsRequest.html#v5" in pages["releases/4.4.0.html"].links
