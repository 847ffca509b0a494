"""``encode``: Kafka's JSON form to bytes."""

from __future__ import annotations

import sys

from .._input import STANDARD_INPUT, from_standard_input, whole
from .._names import entry, version_of
from .._options import Argument, Command, Given, InputError, Option, UsageError
from .._output import Output
from .._parts import part
from .._subject import MESSAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMS = ("hex", "base64", "raw", "c", "python")


def run(given: Given, out: Output) -> int:
    """The bytes of each JSON value; raises JsonError and EncodeError with the field that does not fit."""
    from ..._base.message import class_of
    from ...json import from_json

    found = entry(given.text("message") or "")
    version = version_of(found, given.text("version") or "")
    form = given.text("out") or "hex"
    if form == "raw" and sys.stdout.isatty():
        raise UsageError("raw bytes would confuse the terminal; send them to a file, or choose --out hex")
    for value in _values(given.text("json-text")):
        message = from_json(class_of(found.name), value, version)
        data = _written(message, found.kind, version, given)
        if form == "raw":
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
        else:
            out.line(_shown(data, form))
    return 0


def _written(message: Any, kind: str, version: int, given: Given) -> bytes:
    is_framed = given.flag("frame")
    if not (is_framed or given.flag("header")):
        data: bytes = message.write(version)
        return data
    number = given.number("correlation-id") or 0
    if kind == "request":
        data = part("protocol").encode_request(message, version, number, given.text("client-id"), framed=is_framed)
    elif kind == "response":
        data = part("protocol").encode_response(message, version, number, framed=is_framed)
    elif kind == "metadata":
        data = part("internal_topics").write_metadata_record(message, version)
    elif kind == "coordinator-key":
        data = part("internal_topics").write_coordinator_record(message)[0]
    else:
        data = part("internal_topics").write_versioned(message, version)
    return data


def _values(word: str | None) -> list[Any]:
    """The JSON values of the argument, a file or standard input: one, or one a line."""
    import json
    from os.path import exists

    if word is not None and word.lstrip()[:1] in ("{", "["):
        data, name = word.encode(), "the argument"
    elif word is None or word == "-":
        data, name = from_standard_input("no JSON is given: name a file, write it, or pipe it in", word), STANDARD_INPUT
    elif exists(word):
        with open(word, "rb") as file:
            data, name = whole(file, word), word
    else:
        raise UsageError(f"there is no file {word!r}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not JSON: byte {error.start} is no UTF-8") from None
    try:
        return [json.loads(text)]
    except RecursionError:
        raise InputError(f"{name} is not JSON of a message: it is nested too deeply") from None
    except ValueError as error:
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            values = []
        if not values:
            raise InputError(f"{name} is not JSON: {error}") from None
        return values


def _shown(data: bytes, form: str) -> str:
    if form == "hex":
        return data.hex()
    if form == "base64":
        from base64 import b64encode

        return b64encode(data).decode()
    if form == "python":
        return repr(data)
    rows = [", ".join(f"0x{byte:02x}" for byte in data[at : at + 12]) for at in range(0, len(data), 12)]
    return "{" + ",\n ".join(rows) + "}"


COMMAND = Command(
    run,
    (
        Argument("message", MESSAGE.about.partition(";")[0], completes="message"),
        Argument("version", "a version of it, or latest"),
        Argument("json-text", "JSON, a file, or - for standard input; also one value a line", True, completes="file"),
    ),
    (
        Option("out", "form of the bytes: hex, base64, raw, c, python", "FORM", FORMS),
        Option("frame", "put length and header before the message"),
        Option("header", "put the header before it; in a log its type and version"),
        Option("correlation-id", "of the header", "NUMBER", is_number=True),
        Option("client-id", "of the header of a request", "TEXT"),
    ),
    ("""encode ApiVersionsRequest 3 '{"clientSoftwareName": "me", "clientSoftwareVersion": "1"}'""",),
)
