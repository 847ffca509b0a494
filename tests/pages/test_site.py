"""The site of Kafka's definitions: all versions, working links, and sizes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path

from kafka_messages import all_messages

from tests.support.markup import Parsed

PAGE = 200_000
CONVERSATION = 700_000
"""Maximum size of a page with all bytes of a conversation."""
SITE = 40_000_000


def target(page: str, link: str) -> tuple[str, str]:
    """Return the file and the id that a link of a page leads to."""
    path, _, fragment = link.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page, fragment


def test_every_version_links_to_a_page_with_sample_bytes(pages: Mapping[str, Parsed]) -> None:
    missing = []
    for info in all_messages():
        page = pages[f"messages/{info.name}.html"]
        links = {each.text: each.attributes["href"] for each in page.root.one("p", "versions").all("a")}
        for version in range(info.valid_versions.lowest, info.valid_versions.highest + 1):
            path, fragment = target(f"messages/{info.name}.html", links[str(version)])
            place = pages[path]
            if (fragment and fragment not in place.ids) or not any(place.root.all(css="inspector")):
                missing.append(f"{info.name} {version}")
    assert missing == []


def test_no_link_is_broken(site: Path, pages: Mapping[str, Parsed]) -> None:
    broken = []
    ids = {path: set(page.ids) for path, page in pages.items()}
    for path, page in pages.items():
        for link in page.links:
            if link.startswith("https://"):
                continue  # external links; test_pages_load_no_external_resources checks loaded files
            to, fragment = target(path, link)
            if not (site / to).is_file() or (fragment and fragment not in ids[to]):
                broken.append(f"{path}: {link}")
    assert broken == []


def test_ids_are_unique(pages: Mapping[str, Parsed]) -> None:
    assert [path for path, page in pages.items() if len(set(page.ids)) != len(page.ids)] == []


def test_pages_load_no_external_resources(site: Path, pages: Mapping[str, Parsed]) -> None:
    loaded = [each for page in pages.values() for each in page.root.all() if each.tag != "a"]
    links = [each.attributes.get(name, "") for each in loaded for name in ("href", "src")]
    assert [link for link in links if ":" in link or link.startswith("/")] == []
    for path in (site / "assets").iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert [
            word for word in ("http:", "https:", "fetch(", "XMLHttpRequest", "@import", "url(") if word in text
        ] == []


def test_pages_and_site_are_below_their_size_limits(site: Path) -> None:
    sizes = {path.relative_to(site).as_posix(): path.stat().st_size for path in site.rglob("*") if path.is_file()}
    most = {path: CONVERSATION if path.startswith("conversations/") else PAGE for path in sizes}
    assert {path: size for path, size in sizes.items() if size > most[path] and path.endswith(".html")} == {}
    assert sum(sizes.values()) < SITE
