"""Pages of recorded conversations: annotations that miss an exchange are refused; texts are short and have sources."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_messages_tools.capture import open_capture
from kafka_protocol_pages.conversations import links_of, read_conversations
from kafka_protocol_pages.package import PagesError
from tests.support.markup import Parsed
from tests.support.pages import ROOT

FOLDER = ROOT / "examples" / "conversations"
NAMES = ("classic-group", "consumer-group", "first-contact", "produce", "transaction")
CAPTURE = FOLDER / "first-contact.pcap.gz"
HEAD = 'title = "Own"\norder = 1\nintroduction = "A test."\ncaptures = [{ file = "own.pcap.gz", title = "client" }]\n'
EVERY = ("1 ApiVersions v5, 2 Metadata v13", "3 ApiVersions v5", "4 ListOffsets v11")
"""Exchanges of the steps of an annotation that names every exchange of the capture."""


def own(folder: Path, *steps: str, head: str = HEAD) -> Path:
    """Write a folder with a capture and its annotation."""
    folder.joinpath("own.pcap.gz").write_bytes(CAPTURE.read_bytes())
    texts = [f'[[step]]\ntitle = "T"\ntext = "Asks."\nsource = "KIP-35"\nexchanges = [{each}]\n' for each in steps]
    folder.joinpath("own.toml").write_text(head + "".join(texts), encoding="utf-8")
    return folder


def read(folder: Path) -> Any:
    return read_conversations(folder, "kafka_messages", links_of([], "../"))


def annotation(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def sentences(text: str) -> list[str]:
    return re.findall(r"\S.*?[.?!](?=\s|$)", text)


def test_steps_have_their_exchanges(tmp_path: Path) -> None:
    (found,) = read(own(tmp_path, *(f'"{each}"' for each in EVERY)))
    assert [[len(column) for column in step.columns] for step in found.steps] == [[2], [1], [1]]
    assert (found.path, found.recordings[0].data) == ("conversations/own.html", CAPTURE.read_bytes())


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            EVERY[:2],
            "exchange 4 of own.pcap.gz (ListOffsets v11) has no annotation; add a step, or add it to the last one",
        ),
        (
            (*EVERY[:2], "4 ListOffsets v10"),
            "step 3: exchange 4 of own.pcap.gz is ListOffsets v11, not ListOffsets v10; correct the annotation",
        ),
        ((*EVERY, "5 Fetch v18"), "step 4: own.pcap.gz has 4 exchanges, but the step names 5"),
        ((EVERY[0], EVERY[2]), "step 2: exchange 4 of own.pcap.gz follows 2; expected 3"),
        ((EVERY[0], "2 to 3 Metadata v13"), "step 2: exchange 2 of own.pcap.gz follows 2; expected 3"),
        (
            ("1 ApiVersions",),
            "step 1: exchanges is '1 ApiVersions', expected a text such as '3 JoinGroup v9' or '4 to 6 Heartbeat v4'",
        ),
    ],
)
def test_wrong_annotations_are_refused(tmp_path: Path, steps: tuple[str, ...], message: str) -> None:
    place = own(tmp_path, *(f'"{each}"' for each in steps)) / "own.toml"
    with pytest.raises(PagesError) as refused:
        read(tmp_path)
    assert str(refused.value).removeprefix(f"{place}: ") == message


@pytest.mark.parametrize(
    ("head", "steps", "message"),
    [
        (HEAD, ('"1 ApiVersions v5", ""',), "step 1: exchanges has 2 texts, but captures 1"),
        (HEAD.replace("title", "name", 1), tuple(f'"{each}"' for each in EVERY), "title is None, expected a text"),
        (HEAD.replace("own.p", "other.p"), ('""',), "[Errno 2] No such file or directory: '{folder}/other.pcap.gz'"),
        ("title =", (), "Invalid value (at end of document)"),
        (HEAD.replace("order = ", "order = '1' #"), ('""',), "order is '1', expected a number"),
        (HEAD, (), "step is None, expected an array of tables"),
    ],
)
def test_incomplete_annotations_are_refused(tmp_path: Path, head: str, steps: tuple[str, ...], message: str) -> None:
    place = own(tmp_path, *steps, head=head) / "own.toml"
    with pytest.raises(PagesError) as refused:
        read(tmp_path)
    assert str(refused.value) == f"{place}: {message.format(folder=tmp_path)}"


@pytest.mark.parametrize(
    ("given", "wrong", "message"),
    [
        ('text = "Asks."', "text = ' '", "step 1: text is ' ', expected a text"),
        ('source = "KIP-35"', "source = 5", "step 1: source is 5, expected a text"),
        ('exchanges = [""]', "exchanges = ''", "step 1: exchanges is '', expected an array of texts"),
    ],
)
def test_steps_without_a_text_are_refused(tmp_path: Path, given: str, wrong: str, message: str) -> None:
    place = own(tmp_path, '""') / "own.toml"
    place.write_text(place.read_text(encoding="utf-8").replace(given, wrong), encoding="utf-8")
    with pytest.raises(PagesError) as refused:
        read(tmp_path)
    assert str(refused.value) == f"{place}: {message}"


def test_captures_without_an_annotation_are_refused(tmp_path: Path) -> None:
    own(tmp_path, *(f'"{each}"' for each in EVERY)).joinpath("other.pcap.gz").write_bytes(CAPTURE.read_bytes())
    with pytest.raises(PagesError) as refused:
        read(tmp_path)
    assert str(refused.value) == f"{tmp_path}/other.pcap.gz: no annotation file names this capture"


@pytest.mark.parametrize("name", NAMES)
def test_annotations_are_short_and_have_sources(name: str) -> None:
    found = annotation(name)
    assert len(sentences(found["introduction"])) <= 5
    assert [step["title"] for step in found["step"] if not 1 <= len(sentences(step["text"])) <= 2] == []
    texts = [found["introduction"], *(step["text"] for step in found["step"])]
    assert [each for text in texts for each in sentences(text) if len(each.split()) > 25] == []
    assert [text for text in texts if " ".join(sentences(text)) != text] == []
    source = re.compile(r"KIP-\d+|(Kafka class(es)? )?[A-Z]\w+( \(clients\))?|\w+Request\.json")
    parts = [part for step in found["step"] for part in step["source"].split(", ")]
    assert [part for part in parts if not source.fullmatch(part)] == []


@pytest.mark.parametrize("name", NAMES)
def test_five_questions_are_beside_each_conversation(name: str) -> None:
    questions = annotation(name)["question"]
    assert [sorted(each) for each in questions] == [["answer", "ask", "source"]] * 5


def test_every_conversation_has_a_page_with_its_exchanges_and_capture(site: Path, pages: Mapping[str, Parsed]) -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == list(NAMES)
    for name in NAMES:
        page = pages[f"conversations/{name}.html"].root
        files = [each["file"] for each in annotation(name)["captures"]]
        links = [each.attributes["href"] for each in page.all("a") if "download" in each.attributes]
        assert links == files
        for file in files:
            assert (site / "conversations" / file).read_bytes() == (FOLDER / file).read_bytes()
        assert len(list(page.all("div", "exchange"))) == sum(map(exchange_count, annotation(name)["step"]))
        assert f"conversations/{name}.html" in pages["conversations.html"].links


def test_each_page_links_to_the_terms(pages: Mapping[str, Parsed]) -> None:
    assert [each.attributes["id"] for each in pages["conversations.html"].root.all("h2")] == ["terms"]
    for name in NAMES:
        assert "../conversations.html#terms" in pages[f"conversations/{name}.html"].links


def test_step_1_of_the_transaction_has_the_levels_of_the_feature() -> None:
    captures = annotation("transaction")["captures"]
    levels = [level_of("transaction.version", FOLDER / each["file"]) for each in captures]
    text = annotation("transaction")["step"][0]["text"]
    assert re.findall(r"(\d) under “Transaction version (\d)”", text) == [("1", "1"), ("2", "2")]
    assert levels == [1, 2]


def level_of(feature: str, path: Path) -> int:
    """Return the level of a feature in the first response of a capture."""
    with open_capture(path) as capture:
        response: Any = next(iter(capture)).response
    levels = {each.name: each.max_version_level for each in response.message.finalized_features}
    return int(levels[feature])


def exchange_count(step: dict[str, Any]) -> int:
    ranges = re.findall(r"(\d+)(?: to (\d+))? \w+ v", ", ".join(step["exchanges"]))
    return sum(int(last or first) - int(first) + 1 for first, last in ranges)


def test_index_lists_conversations_from_the_first_contact_on(pages: Mapping[str, Parsed]) -> None:
    cards = pages["conversations.html"].root.one("ul", "cards")
    assert [each.attributes["href"].removeprefix("conversations/") for each in cards.all("a")] == [
        "first-contact.html",
        "produce.html",
        "classic-group.html",
        "consumer-group.html",
        "transaction.html",
    ]


def test_fields_link_to_their_rows(pages: Mapping[str, Parsed]) -> None:
    links = set(pages["conversations/classic-group.html"].links)
    assert {
        "../messages/JoinGroupResponse.html#f.leader",
        "../messages/RequestHeader.html#f.client_id",
        "../messages/ConsumerProtocolAssignment.html#f.assigned_partitions.topic",
        "../messages/FetchResponse.html#f.responses.partitions.high_watermark",
        "../batches.html#magic-2",
        "../types.html#flexible",
        "../headers.html",
    } <= links
