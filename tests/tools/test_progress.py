"""Progress of long operations on a terminal, separate from the output."""

from __future__ import annotations

import io
import itertools
import re
import sys
import time
from collections.abc import Sequence

import pytest

from kafka_messages_tools.command import main
from tests.support.cluster import COMMITTED
from tests.support.command import BODY
from tests.support.pages import ROOT
from tests.tools.test_command import Terminal

LOG = COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log"
CAPTURE = ROOT / "examples" / "captures" / "librdkafka.pcap.gz"
_SHOWN = re.compile(r"(?:\r[\d,]+ of [\d,]+ (?:bytes|messages))+\r\x1b\[K")


def printed(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, words: Sequence[str]) -> str:
    """Return output and errors as a terminal receives them."""
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    assert main([*words, "--width", "80", "--color", "never"]) == 0
    return stream.getvalue()


@pytest.mark.parametrize(
    "words",
    [("log", str(LOG)), ("explain", BODY.hex()), ("capture", str(CAPTURE), "--clients")],
    ids=lambda each: each[0],
)
def test_progress_is_cleared_before_output(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = printed(monkeypatch, io.StringIO(), words)
    assert "\r" not in plain
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    shown = printed(monkeypatch, Terminal(), words)
    assert _SHOWN.search(shown)
    assert _SHOWN.sub("", shown) == plain


def test_short_work_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1.0)
    assert "\r" not in printed(monkeypatch, Terminal(), ("log", str(LOG)))
