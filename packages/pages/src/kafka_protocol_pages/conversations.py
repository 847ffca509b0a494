"""Recorded conversations: the exchanges of captures, in steps that an annotation file explains.

``NAME.toml`` has ``title``, ``order`` (a number), ``introduction``, ``captures`` (tables with ``file`` and ``title``) and
an array ``step``. A step has ``title``, ``text``, ``source`` and ``exchanges``: for each capture, the exchanges of the
step, such as ``3 JoinGroup v9, 4 to 6 Heartbeat v4``; empty if this capture has none. The steps name every exchange.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_messages_tools.capture import CaptureError, Exchange, open_capture
from kafka_messages_tools.conversation import FieldLink, exchange_html
from kafka_protocol_pages.message import MessagePage
from kafka_protocol_pages.package import PagesError

_EXCHANGES = re.compile(r"(\d+)(?: to (\d+))? (\w+ v\d+)")
_FORM = "such as '3 JoinGroup v9' or '4 to 6 Heartbeat v4'"
BATCHES = "batches.html#magic-2"


@dataclass(frozen=True)
class Recording:
    file: str
    title: str
    data: bytes
    exchanges: tuple[Exchange, ...]

    def name_of(self, number: int) -> str:
        found = self.exchanges[number - 1]
        return "" if found.header is None else f"{found.api} v{found.header.request_api_version}"


@dataclass(frozen=True)
class ConversationStep:
    number: int
    title: str
    text: str
    source: str
    columns: tuple[tuple[str, ...], ...]
    """For each recording, the exchanges as HTML."""


@dataclass(frozen=True)
class Conversation:
    name: str
    title: str
    order: int
    introduction: str
    recordings: tuple[Recording, ...]
    steps: tuple[ConversationStep, ...]

    @property
    def path(self) -> str:
        return f"conversations/{self.name}.html"


def read_conversations(folder: Path, package: str, link: FieldLink) -> list[Conversation]:
    """Return the conversations of a folder in their order.

    Raises PagesError if a capture or an exchange has no annotation, or if an annotation names another exchange.
    """
    found = [_conversation(path, package, link) for path in sorted(folder.glob("*.toml"))]
    used = {recording.file for conversation in found for recording in conversation.recordings}
    if unused := sorted({path.name for path in folder.glob("*.pcap.gz")} - used):
        raise PagesError(f"{folder / unused[0]}: no annotation file names this capture")
    return sorted(found, key=lambda conversation: conversation.order)


def links_of(messages: Sequence[MessagePage], root: str) -> FieldLink:
    """Return the function that links a field to its row on the message's page, or to the page about its encoding."""
    fields = {page.name: {field.path for field in page.fields} for page in messages}

    def link(message: str, path: str) -> str:
        if message not in fields:
            return f"{root}headers.html" if path == "frame_length" else ""
        if path.endswith("_tagged_fields"):
            return f"{root}types.html#flexible"
        if ".batches" in path:
            return f"{root}{BATCHES}"
        while path and path not in fields[message]:
            path = path.rpartition(".")[0]
        return f"{root}messages/{message}.html{f'#f.{path}' if path else ''}"

    return link


def _conversation(path: Path, package: str, link: FieldLink) -> Conversation:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        _check(path, given)
        recordings = tuple(_recording(path.parent, package, each) for each in given["captures"])
        annotated = _annotated(path, given["step"], recordings)
        steps = tuple(
            ConversationStep(
                number,
                step["title"],
                step["text"],
                step["source"],
                tuple(
                    tuple(_block(recordings, column, each, link) for each in numbers)
                    for column, numbers in enumerate(columns)
                ),
            )
            for number, (step, columns) in enumerate(zip(given["step"], annotated, strict=True), 1)
        )
        return Conversation(path.stem, given["title"], given["order"], given["introduction"], recordings, steps)
    except (tomllib.TOMLDecodeError, OSError, CaptureError) as error:
        raise PagesError(f"{path}: {error}") from error


def _check(path: Path, given: Mapping[str, Any]) -> None:
    tables: list[tuple[str, Mapping[str, Any], tuple[str, ...]]] = [("", given, ("title", "introduction"))]
    arrays: dict[str, tuple[str, ...]] = {"captures": ("file", "title"), "step": ("title", "text", "source")}
    for name, keys in arrays.items():
        of_name = given.get(name)
        if not isinstance(of_name, list) or not all(isinstance(each, dict) for each in of_name):
            raise PagesError(f"{path}: {name} is {of_name!r}, expected an array of tables")
        tables += [(f"{name} {number}: ", each, keys) for number, each in enumerate(of_name, 1)]
    for place, table, keys in tables:
        for key in keys:
            if not isinstance(value := table.get(key), str) or not value.strip():
                raise PagesError(f"{path}: {place}{key} is {value!r}, expected a text")
    for number, step in enumerate(given["step"], 1):
        if not isinstance(each := step.get("exchanges"), list) or not all(isinstance(text, str) for text in each):
            raise PagesError(f"{path}: step {number}: exchanges is {each!r}, expected an array of texts")
    if not isinstance(given.get("order"), int):
        raise PagesError(f"{path}: order is {given.get('order')!r}, expected a number")


def _recording(folder: Path, package: str, given: Mapping[str, str]) -> Recording:
    path = folder / given["file"]
    with open_capture(path, package=package) as capture:
        return Recording(given["file"], given["title"], path.read_bytes(), tuple(capture))


def _block(recordings: Sequence[Recording], column: int, number: int, link: FieldLink) -> str:
    anchor = f"exchange-{number}" if len(recordings) == 1 else f"exchange-{column + 1}-{number}"
    return exchange_html(recordings[column].exchanges[number - 1], link=link, anchor=anchor, show_values=True)


def _annotated(path: Path, steps: Sequence[Any], recordings: Sequence[Recording]) -> Iterator[list[list[int]]]:
    """Yield the numbers of the exchanges of each step, for each recording."""
    ends = [0] * len(recordings)
    for number, step in enumerate(steps, 1):
        place = f"{path}: step {number}"
        if len(step["exchanges"]) != len(recordings):
            raise PagesError(f"{place}: exchanges has {len(step['exchanges'])} texts, but captures {len(recordings)}")
        columns = []
        for column, (text, recording) in enumerate(zip(step["exchanges"], recordings, strict=True)):
            numbers = list(_numbers(place, text, recording, ends[column]))
            ends[column] += len(numbers)
            columns.append(numbers)
        yield columns
    for end, recording in zip(ends, recordings, strict=True):
        if end < len(recording.exchanges):
            what = f"exchange {end + 1} of {recording.file} ({recording.name_of(end + 1)})"
            raise PagesError(f"{path}: {what} has no annotation; add a step, or add it to the last one")


def _numbers(place: str, text: str, recording: Recording, end: int) -> Iterator[int]:
    for part in filter(None, text.split(", ")):
        found = _EXCHANGES.fullmatch(part)
        if found is None:
            raise PagesError(f"{place}: exchanges is {part!r}, expected a text {_FORM}")
        for number in range(int(found[1]), int(found[2] or found[1]) + 1):
            end += 1
            if number != end:
                raise PagesError(f"{place}: exchange {number} of {recording.file} follows {end - 1}; expected {end}")
            if number > len(recording.exchanges):
                count = len(recording.exchanges)
                raise PagesError(f"{place}: {recording.file} has {count} exchanges, but the step names {number}")
            if (name := recording.name_of(number)) != found[3]:
                what = f"exchange {number} of {recording.file} is {name}, not {found[3]}"
                raise PagesError(f"{place}: {what}; correct the annotation")
            yield number
