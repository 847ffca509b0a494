"""What tests of the command have in common: a request in bytes, and the lines of JSON that are printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kafka_messages import ApiVersionsRequest
from kafka_messages.protocol import encode_request

REQUEST = ApiVersionsRequest(client_software_name="java", client_software_version="4.4.0")
BODY = REQUEST.write(3)
FRAME = encode_request(REQUEST, 3, 7, "me")
Told = Callable[..., tuple[int, str, str]]
"""Runs a command line: exit status, output, errors."""


def rows(output: str) -> list[dict[str, Any]]:
    """The objects of JSON lines."""
    return [json.loads(line) for line in output.splitlines()]
