"""Builds wheels of the native core for each CPython on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_protocol_upstream.publish.interpreters import Interpreter, interpreters

LIMIT = 900


class Failed(Exception):
    """Raised with the output of a failed command."""


def run(*command: str, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    """Run a command, by default outside the repository, and return its standard output. Raises Failed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | dict(variables or {})
    try:
        done = subprocess.run(
            command,
            cwd=folder or tempfile.gettempdir(),
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}\ntook more than {LIMIT} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def wheel_command(interpreter: Interpreter) -> tuple[str, ...]:
    """Return pip's command that builds a wheel for an interpreter."""
    pip = (sys.executable, "-m", "pip", "--python", interpreter.path)
    return (*pip, "wheel", "--quiet", "--no-deps", "--no-cache-dir")


def build(folder: Path) -> Iterator[str]:
    """Build the wheels next to the source distribution; yield a line for each wheel. Raises Failed."""
    source = next(folder.glob("kafka_messages_native-*.tar.gz")).resolve()
    for interpreter in interpreters():
        started = time.monotonic()
        run(*wheel_command(interpreter), "--wheel-dir", str(folder.resolve()), str(source))
        yield f"kafka-messages-native for {interpreter}: built in {time.monotonic() - started:.0f} s"
