"""Subcommand ``decode``: bytes to Kafka's JSON form."""

from __future__ import annotations

from ...package import message_json
from .._errors import InputError, UsageError
from .._input import decoded
from .._subject import Subject
from .._subject import add_arguments as add_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

    from ...package import Package
    from .._output import Output

EXAMPLES = ("decode MetadataResponse 13 response.bin", "decode --frame requests.bin")
MORE = "Secrets are redacted: re-encoding the output gives another message."


def add_arguments(parser: ArgumentParser) -> None:
    add_subject(parser)
    parser.add_argument("--lines", action="store_true", help="one message per line, as hex or base64")


def run(given: Namespace, out: Output, package: Package) -> int:
    if given.lines and given.form == "raw":
        raise UsageError("raw bytes have no lines; --lines requires hex, base64 or literals")
    subject = Subject.parsed(package, given, given.lines)
    for place, data in _pieces(subject, given):
        try:
            out.document(_decoded(subject, data, out.show_secrets))
        except package.root.KafkaMessageError as error:
            raise InputError(f"{place}: {error}" if place else str(error)) from None
    return 0


def _pieces(subject: Subject, given: Namespace) -> Iterator[tuple[str, bytes]]:
    if not given.lines:
        for number, (address, data) in enumerate(subject.pieces(), 1):
            yield f"message {number}, at byte {address}" if address else "", data
        return
    for number, line in enumerate(subject.data.splitlines(), 1):
        if line.strip():
            place = f"line {number}"
            yield place, decoded(line, given.form or "auto", place)


def _decoded(subject: Subject, data: bytes, show_secrets: bool) -> object:
    package = subject.package
    if not subject.has_header:
        message = subject.message.read(data, subject.version)
        return message_json(package, message, subject.version, show_secrets)
    if subject.kind in ("request", "response"):
        return _of_connection(subject, data, show_secrets)
    return _of_record(subject, data, show_secrets)


def _of_connection(subject: Subject, data: bytes, show_secrets: bool) -> object:
    package = subject.package
    protocol = package.module("protocol")
    data = _unframed(package, data) if subject.is_framed else data
    if subject.kind == "request":
        subject.check_request(data)
        found = protocol.decode_request(data)
        head = {"api": found.api.name, "client_id": found.header.client_id}
    else:
        found = protocol.decode_response(data, subject.message, subject.version)
        head = {"api": found.api.name}
    head |= {"version": found.version, "correlation_id": found.header.correlation_id}
    if getattr(found, "trailing", b""):
        secrets = package.module("secrets")
        is_shown = show_secrets or not secrets.has_secrets(type(found.message))
        head["trailing"] = found.trailing.hex() if is_shown else secrets.REDACTED
    return head | {"message": message_json(package, found.message, found.version, show_secrets)}


def _of_record(subject: Subject, data: bytes, show_secrets: bool) -> object:
    package = subject.package
    if (error := package.module("explain").explain_record(data, subject.message).error) is not None:
        raise error  # also for a record of another type
    if subject.kind == "metadata":
        message, version = _metadata_record(package, subject.message, data)
    elif subject.kind == "coordinator-key":
        message, version = subject.message.read(data[2:], 0), 0
    else:
        message, version = package.module("internal_topics").read_versioned(subject.message, data, allow_newer=True)
    known = min(version, subject.message.HIGHEST_SUPPORTED_VERSION)
    return {"version": version, "message": message_json(package, message, known, show_secrets)}


def _metadata_record(package: Package, message: type[Any], data: bytes) -> tuple[Any, int]:
    records = package.module("internal_topics")
    problem: Exception = InputError(f"no log has records of type {message.__name__}")
    for log in dict.fromkeys(("metadata", *records.LOGS.values())):
        try:
            record = records.read_metadata_record(data, log)
        except ValueError as error:  # a log without such records
            problem = error
            continue
        if isinstance(record.message, message):
            return record.message, record.version
    raise problem


def _unframed(package: Package, data: bytes) -> bytes:
    if len(data) < 4:
        reason = f"INT32: 4 bytes needed at offset 0, {len(data)} left"
        raise package.root.DecodeError(reason, path="frame_length", offset=0)
    size, left = int.from_bytes(data[:4], "big", signed=True), len(data) - 4
    if size != left:
        raise package.root.DecodeError(f"the frame has {size} bytes, but {left} follow", offset=4)
    return data[4:]
