"""Tables fit the terminal; JSON output and output to a pipe have complete rows."""

from __future__ import annotations

from contextlib import redirect_stdout

import pytest

from kafka_messages_tools.command import main
from kafka_messages_tools.command._columns import column_widths, folded
from tests.support.captures import captured
from tests.support.command import FRAME, RunCommand, rows
from tests.tools.test_command import Terminal

TABLES = (
    ("capture", str(captured("librdkafka.pcap"))),
    ("capture", str(captured("kafka-python.pcap"))),
    ("capture", str(captured("java.pcapng")), "--clients"),
    ("show", "--entity", "topicName"),
    ("show", "--field", "errorCode"),
    ("show", "FetchRequest"),
    ("show", "FetchResponse", "13"),
    ("errors", "--fields"),
    ("errors", "TOPIC"),
    ("tags",),
    ("apis",),
    ("list",),
    ("explain", FRAME.hex()),
)


@pytest.mark.parametrize("width", [80, 100, 132])
@pytest.mark.parametrize("words", TABLES, ids=lambda words: f"{words[0]} {words[-1][-12:]}")
def test_no_line_is_wider_than_the_output(words: tuple[str, ...], width: int, run_command: RunCommand) -> None:
    status, out, _ = run_command(*words, "--width", str(width))
    assert status == 0
    assert [line for line in out.splitlines() if len(line) > width] == []


def test_output_fits_the_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with redirect_stdout(Terminal()) as stream:
        assert main(["show", "--entity", "topicName", "--color", "never"]) == 0
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[lines.index("MetadataRequest") + 1].split() == ["topics.name", "string", "0-13", "10-13"]


@pytest.mark.parametrize(
    "words",
    [("apis",), ("list",), ("tags",), ("show", "--entity", "topicName"), ("show", "FetchRequest")],
    ids=lambda words: f"{words[0]} {words[-1][-12:]}",
)
def test_columns_limit_the_width_of_tables_in_a_pipe(
    words: tuple[str, ...], run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert [line for line in run_command(*words)[1].splitlines() if len(line) > 80] == []


def test_output_to_a_pipe_has_complete_rows(run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = run_command("show", "--entity", "groupId")[1].splitlines()
    assert ["OffsetFetchRequest", "groups.group_id", "string", "8-10"] in [line.split() for line in lines]


def test_long_client_id_is_truncated_in_narrow_output(run_command: RunCommand) -> None:
    file = str(captured("kafka-python.pcap"))
    ids = {row["client_id"] for row in rows(run_command("capture", file, "--json")[1])}
    long = next(each for each in ids if each and len(each) > 12)
    assert f"{long[:11]}…" in run_command("capture", file, "--width", "80")[1]
    assert long not in run_command("capture", file, "--width", "80")[1]
    assert long in run_command("capture", file, "--width", "200")[1]
    assert long in run_command("capture", file)[1]


def test_error_that_does_not_fit_is_on_the_next_line(run_command: RunCommand) -> None:
    _, out, _ = run_command("capture", str(captured("librdkafka.pcap")), "--errors", "--width", "80")
    assert out.splitlines()[1:3] == [
        "     6 05:43:25.436    2  CreateTopics v4          rd-client       7.050",
        "        TOPIC_ALREADY_EXISTS",
    ]


def test_columns_are_narrowed_with_the_fewest_wrapped_cells() -> None:
    cells = [("key", "name"), ("one.two.three", "a"), ("four", "five six"), ("seven", "eight")]
    assert column_widths(cells, 23) == [13, 8]
    assert column_widths(cells, 18) == [8, 8]
    assert folded("one.two.three", 8) == ["one.two.", "three"]
    assert folded("  FetchRequest", 10) == ["  Fetch", "  Request"]
    assert folded("....TTTT", 4) == ["....", "TTTT"]
