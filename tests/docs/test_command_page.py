"""The shell blocks of docs/command.md run and print the output that the page shows."""

from __future__ import annotations

import re
import shlex

import pytest

from kafka_messages_tools.command import main
from kafka_protocol_upstream.publish.doc_blocks import Block
from tests.support import pages

PAGE = "docs/command.md"
BLOCKS = [block for block in pages.blocks(PAGE) if block.language in ("sh", "")]


def is_ours(block: Block) -> bool:
    return block.language == "sh" and ("kafka-messages " in block.text)


def lines_of(block: Block) -> list[list[str]]:
    """Return the words of each command in a block; the two sides of a pipe are two commands."""
    text = block.text.replace("|\n", "|")
    return [
        shlex.split(part.partition(" || ")[0])
        for line in text.splitlines()
        for part in re.split(r"(?<!\|)\|(?!\|)", line)
        if not line.startswith("eval")
    ]


@pytest.mark.parametrize("block", [block for block in BLOCKS if is_ours(block)], ids=lambda block: block.place)
def test_shell_block_prints_the_documented_output(
    block: Block, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pages.ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    printed = ""
    for number, words in enumerate(lines_of(block)):
        assert words[0] == "kafka-messages"
        piped = [printed.splitlines()[-1]] if number and "|\n" in block.text and len(words) == 4 else []
        status = main([*words[1:], *piped])
        out, err = capsys.readouterr()
        assert (status in (0, 1), err) == (True, "")
        printed = printed.removesuffix(f"{piped[0]}\n") + out if piped else printed + out
    after = BLOCKS[BLOCKS.index(block) + 1 :][:1]
    if after and after[0].language == "":
        assert printed == after[0].text
    assert printed or block.text.startswith("eval")


def test_every_subcommand_is_documented() -> None:
    from kafka_messages_tools.command._table import SUBCOMMANDS

    text = pages.text(PAGE)
    assert [name for name in SUBCOMMANDS if f"`{name}" not in text and f"kafka-messages {name}" not in text] == []
