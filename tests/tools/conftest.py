"""How tests of the command run it."""

from __future__ import annotations

import sys

import pytest

from kafka_messages_tools.command import main
from tests.support.command import Told


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Told:
    """Runs a command line: exit status, output, errors."""
    monkeypatch.setattr(sys, "argv", ["kafka-messages"])

    def runs(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capsys.readouterr()

    return runs
