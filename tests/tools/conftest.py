"""Fixtures for the tests of the command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from kafka_messages_tools.command import main
from tests.support.command import PassInput, RunCommand


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Return a function that runs a command line and returns exit status, output and errors."""
    monkeypatch.setattr(sys, "argv", ["kafka-messages"])
    monkeypatch.delenv("COLUMNS", raising=False)

    def runs(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capsys.readouterr()

    return runs


@pytest.fixture
def pass_input(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[PassInput]:
    """Yield a function that passes bytes as standard input."""
    with ExitStack() as opened:

        def passes(data: bytes) -> None:
            path = tmp_path_factory.mktemp("input") / "stdin"
            path.write_bytes(data)
            monkeypatch.setattr(sys, "stdin", opened.enter_context(path.open()))

        yield passes


@pytest.fixture
def rejection(run_command: RunCommand, pass_input: PassInput) -> Callable[..., str]:
    """Return a function that passes text or bytes to the command and returns why it rejects them."""

    def rejects(data: str | bytes, form: str = "auto") -> str:
        pass_input(data if isinstance(data, bytes) else data.encode())
        status, out, errors = run_command("explain", "ApiVersionsRequest", "3", "-", "--in", form)
        assert (status, out) == (2, "")
        return errors.removeprefix("kafka-messages: ").removesuffix("\nusage: kafka-messages explain --help\n")

    return rejects
