"""Fixtures for the tests of the command."""

from __future__ import annotations

import sys

import pytest

from kafka_messages_tools.command import main
from tests.support.command import RunCommand


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Return a function that runs a command line and returns exit status, output and errors."""
    monkeypatch.setattr(sys, "argv", ["kafka-messages"])
    monkeypatch.delenv("COLUMNS", raising=False)

    def runs(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capsys.readouterr()

    return runs
