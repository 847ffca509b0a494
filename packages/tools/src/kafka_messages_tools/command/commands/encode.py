"""Subcommand ``encode``: Kafka's JSON form to bytes."""

from __future__ import annotations

import sys

from .._errors import InputError, UsageError
from .._input import STANDARD_INPUT, from_standard_input, whole
from .._names import entries_of, only_fitting, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from kafka_messages import MessageInfo

    from ...package import Package
    from .._output import Output

FORMS = ("hex", "base64", "raw", "c", "python")

EXAMPLES = (
    """encode ApiVersionsRequest 3 '{"clientSoftwareName": "me", "clientSoftwareVersion": "1"}'""",
    """encode MetadataRequest 13 '{"topics": [{"name": "orders"}]}' --defaults --frame""",
)


def add_arguments(parser: ArgumentParser) -> None:
    from .._arguments import number, one_of

    parser.add_argument("message", help="a message, or an API by name or key")
    parser.add_argument("version", help="version of the message, or latest")
    about = "JSON, a file, or - for standard input; may contain one JSON value per line"
    parser.add_argument("json_text", nargs="?", metavar="json-text", help=about)
    about = "fill in the fields that the JSON lacks with their default values"
    parser.add_argument("--defaults", action="store_true", help=about)
    about = f"form of the bytes: {', '.join(FORMS)}"
    parser.add_argument("--out", metavar="FORM", default="hex", help=about, **one_of(FORMS))
    parser.add_argument("--frame", action="store_true", help="prepend a length and a header")
    about = "prepend a header; in records of internal topics, type, version or both"
    parser.add_argument("--header", action="store_true", help=about)
    parser.add_argument("--correlation-id", metavar="NUMBER", type=number, default=0, help="id in the header")
    parser.add_argument("--client-id", metavar="TEXT", help="id in the header of a request")


def run(given: Namespace, out: Output, package: Package) -> int:
    found = entries_of(package, given.message)
    version = version_of(found[0], given.version)
    form = given.out
    if form == "raw" and sys.stdout.isatty():
        raise UsageError("refusing to write raw bytes to a terminal; redirect them, or use --out hex")

    from_json = package.module("json").from_json
    for value in _values(given.json_text):

        def fit(info: MessageInfo, value: Any = value) -> Any:
            return from_json(package.message(info.name), value, version, default_missing=given.defaults)

        chosen, message = only_fitting(found, fit)
        data = _written(package, message, chosen.kind, version, given)
        if form == "raw":
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
        else:
            out.line(_shown(data, form))
    return 0


def _written(package: Package, message: Any, kind: str, version: int, given: Namespace) -> bytes:
    is_framed = given.frame
    if not (is_framed or given.header):
        data: bytes = message.write(version)
        return data
    number = given.correlation_id
    if kind == "request":
        data = package.module("protocol").encode_request(message, version, number, given.client_id, framed=is_framed)
    elif kind == "response":
        data = package.module("protocol").encode_response(message, version, number, framed=is_framed)
    elif kind == "metadata":
        data = package.module("internal_topics").write_metadata_record(message, version)
    elif kind == "coordinator-key":
        data = package.module("internal_topics").write_coordinator_record(message)[0]
    else:
        data = package.module("internal_topics").write_versioned(message, version)
    return data


def _values(word: str | None) -> list[Any]:
    import json
    from os.path import exists

    if word is not None and word.lstrip()[:1] in ("{", "["):
        data, name = word.encode(), "the argument"
    elif word is None or word == "-":
        data, name = from_standard_input("no input: give JSON or a file name, or pipe JSON in", word), STANDARD_INPUT
    elif exists(word):
        with open(word, "rb") as file:
            data, name = whole(file, word), word
    else:
        raise UsageError(f"file not found: {word!r}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not JSON: byte {error.start} is invalid UTF-8") from None
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
