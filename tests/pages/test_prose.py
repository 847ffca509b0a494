"""Documentation pages on the site: complete, with working links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_protocol_pages.markdown import LinkTarget, document
from kafka_protocol_pages.package import PagesError
from kafka_protocol_pages.prose import read_prose
from tests.pages.test_site import target
from tests.support.markup import Parsed
from tests.support.pages import ROOT


def write(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def test_every_documentation_page_is_reachable(pages: Mapping[str, Parsed]) -> None:
    reached, waiting = set(), ["index.html"]
    while waiting:
        path = waiting.pop()
        if path in pages and path not in reached:
            reached.add(path)
            waiting += [target(path, link)[0] for link in pages[path].links if ":" not in link]
    docs = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    more = {
        "README.html",
        "CHANGELOG.html",
        "CONTRIBUTING.html",
        "generated/README.html",
        "packages/vectors/README.html",
    }
    assert (docs | more) - reached == set()


def test_side_navigation_lists_every_documentation_page(pages: Mapping[str, Parsed]) -> None:
    (side,) = pages["docs/messages.html"].root.all("nav", "side")
    links = {target("docs/messages.html", each.attributes["href"])[0] for each in side.all("a")}
    docs = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert docs - links == set()
    assert [each.text for each in side.all("a") if "aria-current" in each.attributes] == ["Messages"]


def test_search_index_contains_headings_of_documentation_pages(site: Path) -> None:
    assert '["Collections","collections"]' in (site / "assets" / "search.js").read_text(encoding="utf-8")


def test_markdown_links_and_message_names_become_links(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("mine")
    readme = "# T\n\n[o](other.md#a--b), [l](LICENSE), [LICENSE](LICENSE), `Probe`, [`Probe`](other.md), `Nope`\n"
    prose = read_prose(write(tmp_path, README=readme, other="# O\n\n## A & B\n"), {"Probe"})
    assert {page.path: page.html.split("</h1>")[1].strip() for page in prose.pages} == {
        "README.html": '<p><a href="other.html#a--b">o</a>, l (<code>LICENSE</code>), LICENSE, '
        '<a href="messages/Probe.html"><code>Probe</code></a>, <a href="other.html"><code>Probe</code></a>, '
        "<code>Nope</code></p>",
        "other.html": '<h2 id="a--b">A &amp; B</h2>',
    }


def test_html_comments_are_removed_and_tags_escaped() -> None:
    found = document("<!-- not run: why -->\n\na <b> c\n").html(lambda path, slug: LinkTarget(path), lambda name: None)
    assert found == "<p>a &lt;b&gt; c</p>\n"


def pre(label: str) -> str:
    """Return the start tag of a code block; a tabindex lets the keyboard scroll the block."""
    return f'<pre tabindex="0" role="group" aria-label="{label}">'


def test_empty_table_header_cell_becomes_a_td() -> None:
    found = document("| | b |\n|---|---|\n| 1 | 2 |\n").html(lambda path, slug: LinkTarget(path), lambda name: None)
    assert "<tr>\n<td></td>\n<th>b</th>\n</tr>" in found


def test_code_is_highlighted_but_output_is_not() -> None:
    text = "```python\nreturn\n```\n\n```\na < b\n```\n\n```nosuch\na < b\n```\n"
    assert document(text).html(lambda path, slug: LinkTarget(path), lambda name: None) == (
        f'<div class="code">{pre("Code")}<code><span class="k">return</span>\n</code></pre></div>\n'
        f'<div class="code output">{pre("Output")}<code>a &lt; b\n</code></pre></div>\n'
        f'<div class="code">{pre("Code")}<code>a &lt; b\n</code></pre></div>\n'
    )


@pytest.mark.parametrize("link", ["gone.md", "../outside.md", ".."])
def test_broken_or_outside_link_raises_pages_error(link: str, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    write(tmp_path, outside="# O\n")
    with pytest.raises(PagesError) as caught:
        read_prose(write(folder, README=f"# T\n\n[o]({link})\n"), set())
    outside = f"link to {link} leaves the folder {folder}; use a URL"
    problem = outside if link.startswith("..") else f"broken link to {link}"
    assert str(caught.value) == f"{folder / 'README.md'}:3: {problem}"


def test_missing_readme_raises_pages_error(tmp_path: Path) -> None:
    with pytest.raises(PagesError) as caught:
        read_prose(tmp_path, set())
    assert str(caught.value) == f"{tmp_path / 'README.md'}: file not found; it is the start page"
