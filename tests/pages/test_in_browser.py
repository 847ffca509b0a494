"""The site in Chromium: search, hex dump and field tree, keyboard, themes, print.

For ``nox -s nightly -- browser``. Needs the group ``browser`` of pyproject.toml, and Chromium from ``CHROMIUM`` or ``PATH``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed; nox -s nightly -- browser installs it"
)
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed; apt-get install chromium")

MESSAGE = "messages/ApiVersionsResponse.html"
AXE = Path(os.environ.get("AXE_CORE", ".work/axe/node_modules/axe-core/axe.min.js"))
"""Script of the accessibility checker axe-core (npm); ``nox -s nightly -- browser`` installs it."""
KINDS = [
    MESSAGE,
    "messages/MetadataResponse.html",
    "messages/MetadataResponse-v13.html",
    "messages/SaslAuthenticateRequest.html",
    "conversations/first-contact.html",
    "releases/2.0.0.html",
    "releases/4.0.0.html",
    "README.html",
    "CONTRIBUTING.html",
    "docs/README.html",
    "docs/connection.html",
    "docs/history.html",
    "docs/spark-jobs.html",
    "docs/guide/mock-broker.html",
]
"""Pages of each kind outside the top folder: messages, versions, conversations, releases, documentation."""
LAPTOP = {"width": 1200, "height": 900}
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 400, "height": 800}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        # Chromium's sandbox refuses to start as root, as in many containers.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any, site: Path) -> Iterator[Any]:
    """Yield a function that opens a page; fail on console messages, script errors and requests outside the site."""
    reported: list[str] = []
    contexts = []

    def check_request(url: str) -> None:
        if not url.startswith(site.as_uri()):
            reported.append(url)

    def open_page(path: str, scheme: str = "light", viewport: dict[str, int] = WIDE, **more: Any) -> Any:
        context = browser.new_context(color_scheme=scheme, viewport=viewport, **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: reported.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: reported.append(f"error: {error}"))
        page.on("requestfailed", lambda request: reported.append(f"failed: {request.url}"))
        page.on("request", lambda request: check_request(request.url))
        page.goto(f"{site.as_uri()}/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert reported == []


def background(page: Any) -> int:
    """Return the brightness of the page, 0 to 255."""
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return int(color.removeprefix("rgb(").partition(",")[0])


def highlighted_bytes(page: Any) -> str:
    return "".join(page.locator(".inspector .h i.on").all_inner_texts())


def test_search_opens_a_message_and_finds_a_field(opened: Any) -> None:
    page = opened(MESSAGE)
    page.keyboard.press("/")
    page.keyboard.type("metadatares")
    page.wait_for_selector("#found a")
    assert page.locator("#found a").first.inner_text().startswith("MetadataResponse")
    page.keyboard.press("Enter")
    page.wait_for_url("**/messages/MetadataResponse.html")
    page.keyboard.press("/")
    page.keyboard.type("topicId metadatarequest")
    page.wait_for_selector("#found a")
    assert page.locator("#found a").first.get_attribute("href") == "../messages/MetadataRequest.html#f.topics.topic_id"
    page.keyboard.press("Escape")
    assert page.locator("#found").is_hidden()


@pytest.mark.parametrize(("text", "first"), [("16", "NOT_COORDINATOR"), ("not_coord", "NOT_COORDINATOR"), ("qqq", "")])
def test_search_finds_error_codes(text: str, first: str, opened: Any) -> None:
    page = opened("index.html")
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.wait_for_selector("#found :is(a, p)")
    names = page.locator("#found a span").all_inner_texts()
    assert first in names if first else "No matches." in page.locator("#found p").inner_text()


@pytest.mark.parametrize("text", ["2.8", "kafka 2.8.0", "2.8."])
def test_search_finds_releases(text: str, opened: Any) -> None:
    page = opened("index.html")
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.wait_for_selector("#found a")
    names = page.locator("#found a span").all_inner_texts()
    assert names == (["Kafka 2.8.0"] if "kafka" in text else ["Kafka 2.8.2", "Kafka 2.8.1", "Kafka 2.8.0"])
    page.keyboard.press("ArrowUp")  # wraps around to the last result
    page.keyboard.press("Enter")
    page.wait_for_url("**/releases/2.8.0.html")


def test_hovering_over_a_row_highlights_its_bytes_and_vice_versa(opened: Any) -> None:
    page = opened(MESSAGE)
    box = page.locator(".inspector").last
    box.locator(".tree tbody tr", has_text="throttle_time_ms").hover()
    assert highlighted_bytes(page) == "80000000"
    box.locator(".tree tbody tr", has_text="api_keys").hover()
    assert len(highlighted_bytes(page)) == 2 * 15
    box.locator(".h i").nth(8 + 5).hover()  # skips length and header
    assert box.locator(".tree tbody tr.on td").nth(1).inner_text() == "min_version"
    page.locator("h1").hover()
    assert highlighted_bytes(page) == ""


def test_arrow_keys_move_through_the_field_tree(opened: Any) -> None:
    page = opened(MESSAGE)
    rows = page.locator(".inspector").last.locator(".tree tbody tr")
    rows.first.focus()
    assert len(highlighted_bytes(page)) == 2 * 4
    for key, name in (
        ("ArrowDown", "ResponseHeader v0"),
        ("ArrowDown", "correlation_id"),
        ("ArrowLeft", "ResponseHeader v0"),
        ("ArrowRight", "ApiVersionsResponse v5"),
        ("ArrowDown", "error_code"),
        ("ArrowDown", "api_keys"),
        ("ArrowDown", "[0]"),
        ("ArrowDown", "api_key"),
        ("ArrowLeft", "[0]"),
    ):
        page.keyboard.press(key)
        assert page.locator(".inspector tr:focus td").nth(1).inner_text() == name
    page.keyboard.press("ArrowRight")
    assert page.locator(".inspector tr:focus td").nth(1).inner_text() == "[1]"
    page.keyboard.press("End")
    assert rows.last.evaluate("row => row === document.activeElement")
    assert rows.evaluate_all("rows => rows.filter(row => row.tabIndex === 0).length") == 1
    page.keyboard.press("Escape")
    assert highlighted_bytes(page) == ""


def test_theme_follows_the_system_until_the_button_changes_it(opened: Any) -> None:
    page = opened(MESSAGE, "dark")
    assert background(page) < 60
    page.click("#theme")
    assert background(page) > 200
    page.click(".top .home")
    page.wait_for_url("**/index.html")
    assert background(page) > 200
    assert background(opened(MESSAGE, "light")) > 200


@pytest.mark.parametrize("path", ["index.html", MESSAGE, "messages/FetchResponse-v18.html", "apis.html", "types.html"])
def test_page_is_no_wider_than_a_narrow_screen(path: str, opened: Any) -> None:
    page = opened(path, viewport=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_no_page_in_the_top_folder_is_wider_than_a_narrow_screen(opened: Any, site: Path) -> None:
    widths = {}
    for path in sorted(site.glob("*.html")):
        page = opened(path.name, viewport=NARROW)
        widths[path.name] = page.evaluate("document.documentElement.scrollWidth")
    assert {path: width for path, width in widths.items() if width > NARROW["width"]} == {}


@pytest.mark.parametrize("path", ["errors.html", "messages.html", "tags.html"])
def test_last_table_column_is_visible_on_a_narrow_screen(path: str, opened: Any) -> None:
    page = opened(path, viewport=NARROW)
    ends = page.locator("td.what").evaluate_all("all => all.map((each) => each.getBoundingClientRect().right)")
    assert len(ends) > 50
    assert max(ends) <= NARROW["width"]


@pytest.mark.parametrize("path", ["docs/spark-jobs.html", "docs/guide/first-steps.html", "CONTRIBUTING.html"])
def test_search_on_a_documentation_page_opens_a_heading(path: str, opened: Any) -> None:
    page = opened(path, viewport=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.keyboard.press("/")
    page.keyboard.type("request on a connection")
    page.wait_for_selector("#found a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/guide/first-steps.html#a-request-on-a-connection")


def test_page_without_scripts_shows_bytes_but_no_controls(opened: Any) -> None:
    page = opened(MESSAGE, java_script_enabled=False)
    assert page.locator(".inspector").last.is_visible()
    assert not page.locator(".find").is_visible()
    assert not page.locator("#theme").is_visible()


def test_printing_expands_and_restores_collapsed_details(opened: Any) -> None:
    page = opened(MESSAGE)
    page.emulate_media(media="print")
    assert not page.locator(".top").is_visible()
    assert page.locator(".dump").first.evaluate("each => getComputedStyle(each).overflow") == "visible"
    assert page.locator(".hex th").first.evaluate("each => getComputedStyle(each).position") == "static"
    assert page.pdf().startswith(b"%PDF")
    opened_ones = page.locator("details[open]")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened_ones.count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened_ones.count() == page.locator("details").count() > 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened_ones.count() == 0


def test_copy_button_confirms(opened: Any) -> None:
    page = opened(MESSAGE, permissions=["clipboard-read", "clipboard-write"])
    page.locator("details.same summary").last.click()
    page.locator("details.same").last.locator("button").first.click()
    page.wait_for_selector("text=/Copied|Selected/")


def test_no_page_in_the_top_folder_logs_to_the_console(opened: Any, site: Path) -> None:
    for path in sorted(site.glob("*.html")):
        opened(path.name)


def test_pasted_bytes_are_explained(opened: Any) -> None:
    page = opened("paste.html")
    page.fill("#paste-bytes", "00000019 0012 0003 00000007 0002 6d65 00 056a617661 06342e342e30 00")
    page.wait_for_selector("#paste-guesses button[aria-pressed=true]")
    assert page.locator("#paste-guesses button").first.inner_text() == ("ApiVersionsRequest v3 after length and header")
    assert page.locator("#paste-result h2").inner_text() == "ApiVersionsRequest v3"
    page.locator(".tree tbody tr", has_text="client_software_name").hover()
    assert highlighted_bytes(page) == "056a617661"
    page.locator(".tree tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert highlighted_bytes(page) == "0012"
    page.locator("#paste-result summary").click()
    assert page.locator("#paste-result code").inner_text() == (
        '{"clientSoftwareName":"java","clientSoftwareVersion":"4.4.0"}'
    )


def test_pasted_secrets_are_redacted_and_damaged_bytes_reported(opened: Any) -> None:
    page = opened("paste.html", scheme="dark")
    assert not page.locator("[name=message]").is_visible()
    page.select_option("[name=kind]", "message")
    page.select_option("[name=message]", "SaslAuthenticateRequest")
    page.select_option("[name=version]", "2")
    page.fill("#paste-bytes", "09 70617373776f7264 00")
    assert "70" not in page.locator(".inspector .h").inner_text()
    assert page.locator("tr.secret td").nth(2).inner_text().startswith("redacted")
    page.check("[name=secrets]")
    assert "70 61 73 73" in page.locator(".inspector .h").inner_text()
    page.uncheck("[name=secrets]")
    page.fill("#paste-bytes", "09 7061")
    problem = page.locator("#paste-result .problem").inner_text()
    assert (
        problem
        == "auth_bytes: COMPACT_BYTES: 8 bytes needed at offset 1, 2 left. The bytes before the error are shown."
    )
    assert "70" not in page.locator(".inspector .h").inner_text()
    page.fill("#paste-bytes", "123")
    assert page.locator("#paste-problem").inner_text() == ("Odd number of hex digits (3).")


def test_pasted_bytes_are_in_the_fragment_of_the_address(opened: Any, site: Path) -> None:
    page = opened("paste.html")
    page.select_option("[name=kind]", "message")
    page.select_option("[name=message]", "MetadataRequest")
    page.select_option("[name=version]", "0")
    page.fill("#paste-bytes", "00 00\n00 00")
    link = f"{site.as_uri()}/paste.html#bytes=00000000&kind=message&message=MetadataRequest&version=0"
    assert page.url == link
    other = opened("index.html")
    other.goto(link)
    assert other.locator("#paste-result h2").inner_text() == "MetadataRequest v0"
    other.evaluate("location.hash = '#bytes=0000000100016f&kind=message&message=MetadataRequest&version=0'")
    other.wait_for_selector('td:has-text("o")')
    page.focus("#paste-bytes")
    page.evaluate("document.getElementById('paste').requestSubmit()")
    assert page.url == link
    page.fill("#paste-bytes", "")
    assert page.url == f"{site.as_uri()}/paste.html"


@pytest.mark.parametrize("version", [0, 13])
def test_anchor_of_a_version_leads_to_its_page(version: int, opened: Any) -> None:
    page = opened(f"messages/MetadataResponse.html#v{version}")
    page.wait_for_url(f"**/messages/MetadataResponse-v{version}.html")
    page = opened(f"messages/ApiVersionsRequest.html#v{min(version, 5)}")
    assert page.locator(f"#v{min(version, 5)}").is_visible()
    assert page.url.endswith(f"ApiVersionsRequest.html#v{min(version, 5)}")


@pytest.mark.parametrize("width", [1600, 1440, 1200, 800, 400])
def test_navigation_links_are_visible_at_any_width(width: int, opened: Any) -> None:
    page = opened("messages/FetchRequest.html", viewport={"width": width, "height": 900})
    places = page.evaluate(
        "[...document.querySelectorAll('.top nav a')].map(each => each.getBoundingClientRect().toJSON())"
    )
    find = page.locator(".find").bounding_box()
    assert len(places) >= 12
    assert max(place["right"] for place in places) <= width
    beside = [place for place in places if place["top"] < find["y"] + find["height"]]
    assert all(place["right"] <= find["x"] for place in beside)


def test_last_column_of_the_field_table_is_visible(opened: Any) -> None:
    page = opened("messages/FetchRequest.html", viewport={"width": 1200, "height": 900})
    ends = page.evaluate(
        "[...document.querySelectorAll('.matrix td.what')].map(each => each.getBoundingClientRect().right)"
    )
    assert max(ends) <= 1200


def violations(page: Any) -> list[str]:
    """Return axe-core's violations on the page with all details expanded: rule, count and first element."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, {preload: false, resultTypes: ['violations']})")["violations"]
    return [f"{rule['id']}: {len(rule['nodes'])}, {rule['nodes'][0]['html'][:100]}" for rule in found]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed; nox -s nightly -- browser installs it")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [NARROW, LAPTOP], ids=["narrow", "laptop"])
def test_every_kind_of_page_is_accessible(viewport: dict[str, int], scheme: str, opened: Any, site: Path) -> None:
    paths = [path.name for path in sorted(site.glob("*.html"))] + [path for path in KINDS if (site / path).exists()]
    found = {path: violations(opened(path, scheme, viewport)) for path in dict.fromkeys(paths)}
    assert {path: rules for path, rules in found.items() if rules} == {}
    page = opened("paste.html", scheme, viewport)
    page.fill("#paste-bytes", "00000019 0012 0003 00000007 0002 6d65 00 056a617661 06342e342e30 00")
    page.wait_for_selector("#paste-result h2")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.fill("#find", "topic_id")
    page.wait_for_selector("#found a")
    assert violations(page) == []


@pytest.mark.parametrize(
    "path", [MESSAGE, "messages/FetchRequest.html", "messages/MetadataResponse.html", "headers.html"]
)
def test_field_descriptions_are_visible_on_a_narrow_screen(path: str, opened: Any) -> None:
    page = opened(path, viewport=NARROW)
    ends = page.locator(".matrix td.what").evaluate_all("all => all.map((each) => each.getBoundingClientRect().right)")
    assert len(ends) > 0
    assert max(ends) <= NARROW["width"]
    bars = page.locator(".matrix td.cell").evaluate_all("all => all.map((each) => each.getBoundingClientRect().height)")
    assert max(bars) < 60


@pytest.mark.parametrize("viewport", [NARROW, LAPTOP], ids=["narrow", "laptop"])
@pytest.mark.parametrize("path", [MESSAGE, "messages/MetadataResponse-v13.html", "messages/FetchResponse-v18.html"])
def test_field_tree_shows_the_type_column(path: str, viewport: dict[str, int], opened: Any) -> None:
    page = opened(path, viewport=viewport)
    hidden = page.locator(".tree").evaluate_all("all => all.map((each) => each.scrollWidth - each.clientWidth)")
    assert len(hidden) > 0
    assert max(hidden) <= 0


def test_cells_of_type_examples_do_not_overlap(opened: Any) -> None:
    page = opened("types.html", viewport=NARROW)
    row = page.locator(".examples tr").nth(1).locator("th, td")
    boxes = [row.nth(at).bounding_box() for at in range(row.count())]
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert boxes[1]["width"] > 300
    assert boxes[2]["y"] >= boxes[1]["y"] + boxes[1]["height"]
