"""Helpers for tests of the command: a request in bytes, and JSON lines of output."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kafka_messages import ApiVersionsRequest
from kafka_messages.protocol import encode_request

from kafka_messages_tools.command import main

REQUEST = ApiVersionsRequest(client_software_name="java", client_software_version="4.4.0")
BODY = REQUEST.write(3)
FRAME = encode_request(REQUEST, 3, 7, "me")
RunCommand = Callable[..., tuple[int, str, str]]  # Runs a command line and returns exit status, output and errors.
PassInput = Callable[[bytes], None]  # Passes bytes as standard input.


def is_partial(data: bytes, *options: str) -> bool:
    """Return whether ``capture --strict`` finds missing or unreadable data in a capture."""
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        path = Path(folder) / "capture"
        path.write_bytes(data)
        status = main(["capture", str(path), "--strict", *options])
    assert status in (0, 1)
    return status == 1


def rows(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]
