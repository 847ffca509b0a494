"""What a command line says of the bytes: which message at which version, alone or behind headers."""

from __future__ import annotations

from .._base.message import class_of
from ._input import FORMS, is_literal, read_bytes
from ._names import entry, is_version, version_of
from ._options import Argument, Option, UsageError
from ._parts import has_part, module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._options import Given

MESSAGE = Argument(
    "message", "name of a message; none with --frame or --header if these are requests", True, completes="message"
)
VERSION = Argument("version", "a version of it, or latest; none if a header says it", True)
BYTES = Argument("bytes", "a file, - for standard input, or hex and the like", True, completes="file")
IN = Option("in", "form of the bytes: auto, hex, base64, raw, literal", "FORM", FORMS)
FRAME = Option("frame", "a length (int32) and a header stand before the message, as on a connection")
HEADER = Option("header", "what stands before the message is there too: its header; its type and version in a log")
REQUEST = Option(
    "request",
    "the request that a response answers: its bytes, in place of message and version",
    "BYTES",
    completes="file",
)
OPTIONS = (IN, FRAME, HEADER, REQUEST)


_SHORTEST = {"request": 8, "response": 4}
"""Bytes of a header, which each frame has. Of one that says less nobody knows where the next one begins."""


class Subject:
    """The bytes of a command line and what they are said to be; ``name`` is empty for requests that say it themselves."""

    def __init__(self, given: Given, has_lines: bool = False) -> None:
        self.is_framed = given.flag("frame")
        self.has_header = self.is_framed or given.flag("header") or given.text("request") is not None
        words = [word for word in map(given.text, ("message", "version", "bytes")) if word is not None]
        self.name, self.kind, self.version = "", "request", -1
        asked = given.text("request")
        if asked is not None:
            self._answer(read_bytes(asked, None))
        elif words and not (self.has_header and _is_bytes(words)):
            self._message(words)
        elif not self.has_header:
            raise UsageError("MESSAGE is missing; with --frame or --header a request says what it is")
        if len(words) > 1:
            raise UsageError(f"one argument too many: {words[1]!r}")
        if self.has_header and self.kind in ("request", "response") and not has_part("protocol"):
            raise UsageError("this package has no headers: it was generated without the part protocol")
        self.data = read_bytes(words[0] if words else None, "raw" if has_lines else given.text("in"))

    def _message(self, words: list[str]) -> None:
        """Take the message, and the version where nothing else says it."""
        if len(words) == 1 and _must_be_bytes(words[0]):
            raise UsageError(
                "MESSAGE and VERSION are missing before the bytes; --frame and --header read requests, which say what "
                "they are, and the subcommand guess finds out what other bytes could be"
            )
        found = entry(words.pop(0))
        self.name, self.kind = found.name, found.kind
        says_itself = self.has_header and self.kind != "response"
        if words and (not says_itself or len(words) > 1 or is_version(words[0])):
            self.version = version_of(found, words.pop(0))
        elif not says_itself:
            raise UsageError(f"VERSION is missing: {found.name} has {found.versions}")

    def _answer(self, data: bytes) -> None:
        """A response, by its request."""
        protocol = module("protocol")
        is_framed = int.from_bytes(data[:4], "big") == len(data) - 4
        header, _ = protocol.read_request_header(data[4:] if is_framed else data)
        api = protocol.api(header.request_api_key)
        self.name, self.kind, self.version = api.response_name, "response", header.request_api_version
        if not self.name:
            raise UsageError(f"{api.request_name} has no response")

    @property
    def message(self) -> Any:
        """The class of the message."""
        return class_of(self.name)

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """The bytes of each message with their address; of frames there may be many."""
        if not self.is_framed:
            yield 0, self.data
            return
        at = 0
        while at < len(self.data) or at == 0:
            size = int.from_bytes(self.data[at : at + 4], "big", signed=True)
            end = at + 4 + size if len(self.data) - at >= 4 and size >= _SHORTEST.get(self.kind, 0) else len(self.data)
            yield at, self.data[at : min(end, len(self.data))]
            at = max(end, at + 1)


def _must_be_bytes(word: str) -> bool:
    """Whether a word cannot be the name of a message: it is a file, a dump or a literal, or has hex digits only."""
    from os.path import exists

    is_hex = len(word) > 3 and all(char in "0123456789abcdefABCDEF \t\r\n:,;xX" for char in word)
    return not word.isalpha() and (is_hex or is_literal(word) or word == "-" or exists(word))


def _is_bytes(words: list[str]) -> bool:
    """Whether the words are the bytes alone, and no message."""
    if len(words) > 1:
        return False
    try:
        entry(words[0])
    except UsageError:
        return True
    return False
