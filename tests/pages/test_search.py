"""The search of the site, in Node with the index of the site."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support import javascript

pytestmark = pytest.mark.skipif(bool(javascript.missing()), reason=javascript.missing())
PROGRAM = """
const { readFileSync } = require("node:fs");
const find = require(`${process.argv[1]}/find.js`);
const index = new Function(`${readFileSync(`${process.argv[1]}/search.js`, "utf-8")}; return SEARCH;`)();
const entries = [...find.listed(index)];
const answers = JSON.parse(process.argv[2]).map((text) => find.matches(entries, text).map((each) => each.link));
process.stdout.write(JSON.stringify(answers));
"""
WANTED = {
    "varint": "types.html#variable-length-numbers",
    "zigzag": "types.html#variable-length-numbers",
    "zig-zag": "types.html#variable-length-numbers",
    "flexible versions": "types.html#flexible",
    "magic": "batches.html#magic-2",
    "__consumer_offsets": "records.html#group-coordinator",
    "KIP-848": "kips.html#KIP-848",
    "kip 848": "kips.html#KIP-848",
    "api key 18": "apis.html#key-18",
    "18": "messages/ApiVersionsRequest.html",
    "-1": "errors.html#UNKNOWN_SERVER_ERROR",
    "not_coord": "errors.html#NOT_COORDINATOR",
    "2.8": "releases/2.8.2.html",
    "MetadataResponse": "messages/MetadataResponse.html",
    "topicId metadatarequest": "messages/MetadataRequest.html#f.topics.topic_id",
    "nullable string": "types.html#strings-and-bytes",
    "request on a connection": "docs/guide/first-steps.html#a-request-on-a-connection",
}
"""The page or place that must be among the first three results."""


def found(site: Path, texts: list[str]) -> list[list[str]]:
    command = ["node", "-e", PROGRAM, str(site / "assets"), json.dumps(texts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=javascript.SECONDS)
    assert done.returncode == 0, done.stderr[-3000:]
    answers: list[list[str]] = json.loads(done.stdout)
    return answers


def test_right_page_is_among_the_first_three_results(site: Path) -> None:
    first = {text: links[:3] for text, links in zip(WANTED, found(site, list(WANTED)), strict=True)}
    assert {text: links for text, links in first.items() if WANTED[text] not in links} == {}


def test_every_result_exists(site: Path) -> None:
    texts = ["varint", "magic", "kip", "api key", "__", "flexible", "string"]
    links = {link for some in found(site, texts) for link in some}
    assert len(links) > 100
    pages = {link: (site / link.partition("#")[0]).read_text(encoding="utf-8") for link in links}
    wrong = [link for link, page in pages.items() if "#" in link and f'id="{link.partition("#")[2]}"' not in page]
    assert wrong == []


def test_text_without_letters_or_without_a_match_finds_nothing(site: Path) -> None:
    assert found(site, ["", " _ ", "qqq", "9999"]) == [[], [], [], []]
