"""Message, version and input bytes of a command line, with or without headers."""

from __future__ import annotations

from ._errors import InputError, UsageError
from ._input import FORMS, is_like_bytes, read_bytes
from ._names import entries_of, is_version, known_as, only_fitting, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

    from kafka_messages import MessageInfo

    from ..package import Package
MESSAGE = "a message, or an API by name or key; omit it for requests with --frame or --header"
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

    def __init__(
        self, package: Package, data: bytes = b"", *, is_framed: bool = False, has_header: bool = False
    ) -> None:
        self.package = package
        self.data = data
        self.is_framed = is_framed
        self.has_header = has_header
        self.name, self.kind, self.version = "", "request", -1

    @classmethod
    def parsed(cls, package: Package, given: Namespace, has_lines: bool = False) -> Subject:
        """Return the subject of a command line. Raises UsageError, and InputError for an API that the bytes do not fit."""
        has_header = given.frame or given.header or given.request is not None
        self = cls(package, is_framed=given.frame, has_header=has_header)
        words = [word for word in (given.message, given.version, given.bytes) if word is not None]
        found: list[MessageInfo] = []
        if given.request is not None:
            self._answer(read_bytes(given.request, None))
        elif words and not (has_header and len(words) == 1 and not known_as(package, words[0])):
            found = self._messages(words)
        elif not has_header:
            raise UsageError(
                "MESSAGE is missing; omit it only with --request, or for requests with --frame or --header"
            )
        if len(words) > 1:
            raise UsageError(f"unexpected argument: {words[1]!r}")
        if has_header and self.kind in ("request", "response"):
            package.module("protocol")
        if len(found) > 1 and has_lines:
            raise UsageError(f"--lines requires a message: {' or '.join(each.name for each in found)}")
        self.data = read_bytes(words[0] if words else None, "raw" if has_lines else given.form)
        if len(found) > 1:
            self.set_message(only_fitting(found, self._fit)[0])
        return self

    def set_message(self, info: MessageInfo) -> None:
        self.name, self.kind = info.name, info.kind

    def _messages(self, words: list[str]) -> list[MessageInfo]:
        """Take the message or API and its version from the words; the bytes decide between several messages."""
        if len(words) == 1 and not known_as(self.package, words[0]) and must_be_bytes(words[0]):
            raise UsageError(
                "MESSAGE and VERSION are missing before the bytes; use --frame or --header for requests, "
                "or the subcommand explain for unknown bytes"
            )
        hint = "; no such file; for base64 use --in base64" if len(words) == 1 else ""
        found = entries_of(self.package, words.pop(0), hint)
        self.set_message(found[0])
        says_itself = self.has_header and self.kind != "response"
        if words and (not says_itself or len(words) > 1 or is_version(words[0])):
            self.version = version_of(found[0], words.pop(0))
        elif says_itself:
            return found[:1]
        else:
            raise UsageError(f"VERSION is missing: {found[0].name} has {found[0].valid_versions}")
        return found

    def _fit(self, info: MessageInfo) -> None:
        self.set_message(info)
        for _, data in self.pieces():
            if (error := self.explained(data).error) is not None:
                raise InputError(str(error))

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

    def check_request(self, data: bytes) -> None:
        """Raise DecodeError if the header is of another request or version than the command line names."""
        key, version = (int.from_bytes(data[at : at + 2], "big", signed=True) for at in (0, 2))
        api = self.package.api(key) if self.name and len(data) > 3 else None
        if api is not None and (api.request_name != self.name or self.version not in (-1, version)):
            hint = "; for a response, specify its version" if self.version < 0 else ""
            reason = f"the header is of {api.request_name} v{version}{hint}"
            raise self.package.root.DecodeError(reason, self.name, self.version)

    def explained(self, data: bytes, **more: Any) -> Any:
        """Return the explanation of a piece; ``more`` are the arguments ``records`` and ``limit``."""
        explain = self.package.module("explain")
        if self.kind == "request" and self.has_header:
            self.check_request(data[4:] if self.is_framed else data)
            return explain.explain_request(data, framed=self.is_framed, **more)
        if self.kind == "response" and self.has_header:
            return explain.explain_response(data, self.message, self.version, framed=self.is_framed, **more)
        if self.has_header:
            return explain.explain_record(data, self.message, **more)
        return explain.explain(data, self.message, self.version, **more)


def must_be_bytes(word: str) -> bool:
    from os.path import exists

    return word == "-" or exists(word) or is_like_bytes(word)
