"""Message, version and input bytes of a command line, with or without headers."""

from __future__ import annotations

from ._errors import UsageError
from ._input import FORMS, is_literal, read_bytes
from ._names import entry, is_version, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

    from ..package import Package
MESSAGE = "name of a message; omit it for requests with --frame or --header"
BYTES = "a file, - for standard input, or bytes as hex"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("message", nargs="?", help=MESSAGE)
    parser.add_argument("version", nargs="?", help="message version, or latest; not needed if a header contains it")
    parser.add_argument("bytes", nargs="?", help=BYTES)
    add_form(parser)
    about = "a length (int32) and a header precede the message, as on a connection"
    parser.add_argument("--frame", action="store_true", help=about)
    about = "a header precedes the message; in records of internal topics, type, version or both"
    parser.add_argument("--header", action="store_true", help=about)
    about = "the request that a response answers, instead of message and version"
    parser.add_argument("--request", metavar="BYTES", help=about)


def add_form(parser: ArgumentParser) -> None:
    from ._arguments import one_of

    parser.add_argument(
        "--in", dest="form", metavar="FORM", help=f"form of the bytes: {', '.join(FORMS)}", **one_of(FORMS)
    )


# Minimum frame size in bytes (a header).
_SHORTEST = {"request": 8, "response": 4}


class Subject:
    """Input bytes and their message type; ``name`` is empty for requests identified by their header."""

    def __init__(self, package: Package, given: Namespace, has_lines: bool = False) -> None:
        self.package = package
        self.is_framed: bool = given.frame
        self.has_header = self.is_framed or given.header or given.request is not None
        words = [word for word in (given.message, given.version, given.bytes) if word is not None]
        self.name, self.kind, self.version = "", "request", -1
        if given.request is not None:
            self._answer(read_bytes(given.request, None))
        elif words and not (self.has_header and _is_bytes(package, words)):
            self._message(words)
        elif not self.has_header:
            raise UsageError(
                "MESSAGE is missing; omit it only with --request, or for requests with --frame or --header"
            )
        if len(words) > 1:
            raise UsageError(f"unexpected argument: {words[1]!r}")
        if self.has_header and self.kind in ("request", "response"):
            package.module("protocol")
        self.data = read_bytes(words[0] if words else None, "raw" if has_lines else given.form)

    def _message(self, words: list[str]) -> None:
        if len(words) == 1 and _must_be_bytes(words[0]):
            raise UsageError(
                "MESSAGE and VERSION are missing before the bytes; use --frame or --header for requests, "
                "or the subcommand guess for unknown bytes"
            )
        found = entry(self.package, words.pop(0))
        self.name, self.kind = found.name, found.kind
        says_itself = self.has_header and self.kind != "response"
        if words and (not says_itself or len(words) > 1 or is_version(words[0])):
            self.version = version_of(found, words.pop(0))
        elif not says_itself:
            raise UsageError(f"VERSION is missing: {found.name} has {found.valid_versions}")

    def _answer(self, data: bytes) -> None:
        protocol = self.package.module("protocol")
        is_framed = int.from_bytes(data[:4], "big") == len(data) - 4
        header, _ = protocol.read_request_header(data[4:] if is_framed else data)
        api = protocol.api(header.request_api_key)
        self.name, self.kind, self.version = api.response_name, "response", header.request_api_version
        if not self.name:
            raise UsageError(f"{api.request_name} has no response")

    @property
    def message(self) -> Any:
        return self.package.message(self.name)

    def pieces(self) -> Iterator[tuple[int, bytes]]:
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
    from os.path import exists

    is_hex = len(word) > 3 and all(char in "0123456789abcdefABCDEF \t\r\n:,;xX" for char in word)
    return not word.isalpha() and (is_hex or is_literal(word) or word == "-" or exists(word))


def _is_bytes(package: Package, words: list[str]) -> bool:
    if len(words) > 1:
        return False
    try:
        entry(package, words[0])
    except UsageError:
        return True
    return False
