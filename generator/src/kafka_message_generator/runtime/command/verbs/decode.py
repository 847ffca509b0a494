"""``decode``: bytes to Kafka's JSON form."""

from __future__ import annotations

from ...errors import DecodeError, KafkaMessageError
from .._input import decoded
from .._options import Command, Given, InputError, Option, UsageError
from .._output import Output
from .._parts import part
from .._subject import BYTES, MESSAGE, OPTIONS, VERSION, Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def run(given: Given, out: Output) -> int:
    """Each message as an object; raises DecodeError with the place of what cannot be read."""
    has_lines = given.flag("lines")
    if has_lines and given.text("in") == "raw":
        raise UsageError("raw bytes have no lines; --lines is for hex, base64 and literals")
    subject = Subject(given, has_lines)
    for place, data in _pieces(subject, given):
        try:
            out.document(_decoded(subject, data, out.show_secrets))
        except KafkaMessageError as error:
            raise InputError(f"{place}: {error}" if place else str(error)) from None
    return 0


def _pieces(subject: Subject, given: Given) -> Iterator[tuple[str, bytes]]:
    """Each message, and where it is if there may be others before it."""
    if not given.flag("lines"):
        for number, (address, data) in enumerate(subject.pieces(), 1):
            yield f"message {number}, at byte {address}" if address else "", data
        return
    for number, line in enumerate(subject.data.splitlines(), 1):
        if line.strip():
            place = f"line {number}"
            yield place, decoded(line, given.text("in") or "auto", place)


def _decoded(subject: Subject, data: bytes, show_secrets: bool) -> object:
    from ...explain import explain_record, has_secrets
    from ...secrets import REDACTED
    from .._shown import message_json

    if not subject.has_header:
        message = subject.message.read(data, subject.version)
        return message_json(message, subject.version, show_secrets)
    if subject.kind in ("request", "response"):
        protocol = part("protocol")
        data = _unframed(data) if subject.is_framed else data
        if subject.kind == "request":
            found = protocol.decode_request(data)
            head = {"api": found.api.name, "client_id": found.header.client_id}
        else:
            found = protocol.decode_response(data, subject.message, subject.version)
            head = {"api": found.api.name}
        head |= {"version": found.version, "correlation_id": found.header.correlation_id}
        if getattr(found, "trailing", b""):
            is_shown = show_secrets or not has_secrets(type(found.message))
            head["trailing"] = found.trailing.hex() if is_shown else REDACTED
        return head | {"message": message_json(found.message, found.version, show_secrets)}
    if (error := explain_record(data, subject.message).error) is not None:
        raise error  # also where the bytes say that they are another message
    records = part("records")
    if subject.kind == "metadata":
        record = records.read_metadata_record(data, _log_of(subject.name))
        message, version = record.message, record.version
    elif subject.kind == "coordinator-key":
        message, version = subject.message.read(data[2:], 0), 0
    else:
        message, version = records.read_versioned(subject.message, data)
    return {"version": version, "message": message_json(message, version, show_secrets)}


def _unframed(data: bytes) -> bytes:
    """What is in the frame that some bytes are. Raises DecodeError for what is none."""
    if len(data) < 4:
        reason = f"INT32: 4 bytes needed at offset 0, {len(data)} left"
        raise DecodeError(reason, path="frame_length", offset=0)
    size, left = int.from_bytes(data[:4], "big", signed=True), len(data) - 4
    if size != left:
        raise DecodeError(f"the frame has {size} bytes, but {left} follow", offset=4)
    return data[4:]


def _log_of(name: str) -> str:
    """The log that has a metadata record."""
    from .._parts import module

    types = module("records._tables").RECORD_TYPES
    return next((log for log, _, _, value in types if value == name), "metadata")


COMMAND = Command(
    run,
    (MESSAGE, VERSION, BYTES),
    (*OPTIONS, Option("lines", "a message a line, of hex or base64")),
    ("decode MetadataResponse 13 response.bin", "decode --frame requests.bin"),
    "Secrets are hidden: what is written from that is another message.",
)
