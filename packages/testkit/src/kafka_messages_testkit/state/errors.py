"""Errors of request handlers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kafka_messages.protocol import ErrorCode

_LONGEST = 8000  # characters of a message, which may have up to 4 bytes; a string has at most 32,767


class RequestError(Exception):
    """Error code of a response, or of one of its elements."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(code.name)
        self.code, self.message = code, message and message[:_LONGEST]


class Element(Protocol):
    """Element of a response with its own error code, such as a topic or a partition."""

    error_code: int


@contextmanager
def failures(element: Element) -> Iterator[None]:
    """Set the error code of ``element`` if the body raises RequestError."""
    try:
        yield
    except RequestError as error:
        element.error_code = error.code
