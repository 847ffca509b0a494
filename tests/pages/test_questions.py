"""The ten questions of docs/pages.md: each page and each command has the answer."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from kafka_messages_tools.command import main
from tests.support.markup import Element, Parsed
from tests.support.pages import text

_ROW = re.compile(r"^\| ([^|]+\?) \| `([^`]+)` \| (?:`(kafka-messages [^`]+)` )?\|$", re.MULTILINE)


@dataclass(frozen=True)
class Question:
    words: str
    page: str
    command: str


QUESTIONS = [Question(*found) for found in _ROW.findall(text("docs/pages.md"))]
ANSWERS: Sequence[tuple[Sequence[str], Sequence[str]]] = (
    (("ResponseHeader 0 for versions 0-8, 1 for versions 9-13",), ("0, 1 from version 9",)),
    (("topics.name", "null in 10-13"), ("topics.name", "10-13")),
    (("a 00 often follows the last field",), ("_tagged_fields", "none")),
    (("Versions 0-12: absent", "Versions 13-18: UUID"), ("versions 13-18", "UUID")),
    (("InitProducerIdRequest", "ProduceRequest", "transactional_id"), ("InitProducerIdRequest", "ProduceRequest")),
    (("00 10", "Fields with error codes", "OffsetCommitResponse"), ("NOT_COORDINATOR", "OffsetCommitResponse")),
    (("0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd",), ()),
    (("cluster_id", "tag 0"), ("cluster_id", "12-18")),
    (("at most 32767 bytes", "Length+1 as UNSIGNED_VARINT"), ()),
    (("OffsetCommitKey", "__consumer_offsets"), ("group", "topic", "partition")),
)
"""For each row of the table: expected text on the page, from the linked place on; expected output of the command."""


def ids_and_texts(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts in an element, in page order; tooltips count as texts."""
    yield element.attributes.get("id", ""), element.attributes.get("title", "")
    for each in element.inside:
        if isinstance(each, str):
            yield "", each
        else:
            yield from ids_and_texts(each)


def test_documentation_has_ten_questions_with_answers() -> None:
    assert len(QUESTIONS) == len(ANSWERS) == 10


@pytest.mark.parametrize(("question", "answer"), list(zip(QUESTIONS, ANSWERS, strict=True)))
def test_page_and_command_answer_the_question(
    question: Question,
    answer: tuple[Sequence[str], Sequence[str]],
    pages: Mapping[str, Parsed],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, _, place = question.page.partition("#")
    pieces = list(ids_and_texts(pages[path].root))
    start = next(number for number, (id_, _) in enumerate(pieces) if id_ == place)
    shown = "".join(words for _, words in pieces[start:])
    assert [words for words in answer[0] if words not in shown] == []
    if question.command:
        _, *words = shlex.split(question.command)
        assert main([*words, "--text"]) == 0
        printed = capsys.readouterr().out
        assert [words for words in answer[1] if words not in printed] == []
