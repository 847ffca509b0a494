"""Progress of long operations on a terminal, separate from the output."""

from __future__ import annotations

import io
import itertools
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout

import pytest

from kafka_messages_tools.command import main
from tests.support.cluster import COMMITTED
from tests.support.command import BODY
from tests.support.pages import ROOT
from tests.tools.test_command import Terminal

LOG = COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log"
CAPTURE = ROOT / "examples" / "captures" / "librdkafka.pcap.gz"
_SHOWN = re.compile(r"(?:\r[\d,]+ of [\d,]+ (?:bytes|messages))+\r\x1b\[K")


def printed(stream: io.StringIO, words: Sequence[str]) -> str:
    """Return output and errors as a terminal receives them."""
    with redirect_stdout(stream), redirect_stderr(stream):
        assert main([*words, "--width", "80", "--color", "never"]) == 0
    return stream.getvalue()


def use_clock(monkeypatch: pytest.MonkeyPatch, seconds: Iterator[int]) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))


@pytest.mark.parametrize(
    "words",
    [("log", str(LOG)), ("explain", BODY.hex()), ("capture", str(CAPTURE), "--clients")],
    ids=lambda each: each[0],
)
def test_progress_is_cleared_before_output(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = printed(io.StringIO(), words)
    assert "\r" not in plain
    use_clock(monkeypatch, itertools.count())
    shown = printed(Terminal(), words)
    assert _SHOWN.search(shown)
    assert _SHOWN.sub("", shown) == plain


def test_short_work_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    use_clock(monkeypatch, itertools.repeat(1))
    assert "\r" not in printed(Terminal(), ("log", str(LOG)))
