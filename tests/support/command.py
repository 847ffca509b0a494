"""Helpers for tests of the command: a request in bytes, and JSON lines of output."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kafka_messages import ApiVersionsRequest
from kafka_messages.protocol import encode_request

REQUEST = ApiVersionsRequest(client_software_name="java", client_software_version="4.4.0")
BODY = REQUEST.write(3)
FRAME = encode_request(REQUEST, 3, 7, "me")
RunCommand = Callable[..., tuple[int, str, str]]  # Runs a command line and returns exit status, output and errors.
PassInput = Callable[[bytes], None]  # Passes bytes as standard input.


def rows(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]
