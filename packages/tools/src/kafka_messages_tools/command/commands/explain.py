"""Subcommand ``explain``: meaning of each byte, also of bytes of an unknown message."""

from __future__ import annotations

import os
from shlex import quote

from ...text import safe
from .._input import read_bytes
from .._names import entries_of, known_as
from .._output import Output, note
from .._subject import Subject, must_be_bytes
from .._subject import add_arguments as add_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ...package import Package
    from .._detection import Candidate


_ALL = 1 << 62
# Default maximum number of fields shown, which takes a few seconds and less than 200 MB.
FIELDS = 50_000
# Maximum number of candidates shown.
MOST = 5

EXAMPLES = (
    "explain MetadataResponse 13 response.bin",
    "explain --frame requests.bin",
    "explain ApiVersionsRequest 3 '05 6a 61 76 61 06 34 2e 34 2e 30 00'",
    "explain unknown.bin",
)
MORE = (
    "Without MESSAGE, the best candidates for the bytes are listed, and the first one is explained.\n"
    "Damaged bytes are shown up to the error, with exit status 1."
)
# Minimum score of a candidate that is no guess, and its distance to others.
_SURE, _MARGIN = 4, 10
# What a broker or client sees when the other side uses another protocol, by the start of its name.
_MISTAKES = {
    "a TLS": "one side uses TLS (SSL or SASL_SSL), the other does not",
    "an HTTP": "an HTTP client or proxy uses the port of a broker",
}


def add_arguments(parser: ArgumentParser) -> None:
    from .._arguments import number

    add_subject(parser)
    parser.add_argument("--records", action="store_true", help="also show the records of record batches")
    parser.add_argument("--all", action="store_true", help="show all bytes of long fields")
    about = f"maximum number of fields shown, {FIELDS:,} by default; 0 for all"
    parser.add_argument("--limit", metavar="FIELDS", type=number, help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    if not (given.frame or given.header or given.request is not None or given.version is not None):
        word = given.message
        if word is None or (not known_as(package, word) and (given.form or must_be_bytes(word))):
            return _detected(read_bytes(word, given.form), given, out, package)
    return _printed(Subject.parsed(package, given), given, out)


def _printed(subject: Subject, given: Namespace, out: Output) -> int:
    status = 0
    most = given.limit
    left = FIELDS if most is None else most or _ALL
    for address, data in subject.pieces():
        if left <= 0:
            note(f"the messages from byte {address} on are not shown; raise --limit, or use --limit 0 to show all")
            return 1
        found = subject.explained(data, records=given.records, limit=left)
        left -= sum(1 for _ in found.leaves())
        status |= found.error is not None
        if out.is_json:
            for row in found.rows(show_secrets=out.show_secrets, address=address):
                out.record(row)
        else:
            text = found.text(
                width=out.width,
                color=out.has_color,
                show_secrets=out.show_secrets,
                whole=given.all,
                address=address,
            )
            out.line(text.rstrip("\n"))
            if found.error is not None and (looks_like := subject.package.foreign_protocol(data)):
                out.line(_foreign(looks_like))
    return status


def _foreign(looks_like: str) -> str:
    mistake = next((f": {why}" for start, why in _MISTAKES.items() if looks_like.startswith(start)), "")
    return f"this looks like {looks_like}{mistake}"


def _detected(data: bytes, given: Namespace, out: Output, package: Package) -> int:
    from .._detection import candidates

    looks_like = package.foreign_protocol(data)
    reason = _other_file(data, given.message) or (_foreign(looks_like) if looks_like else "")
    found = [] if reason else candidates(package, data, out)
    secret = [each for each in _guesses(found) if package.module("secrets").has_secrets(package.message(each.message))]
    for each in dict.fromkeys([*found[:MOST], *secret[:1]]):
        if out.is_json:
            names = {"message": each.message, "versions": each.versions, "before": each.before}
            out.record(names | {"score": round(each.score, 1), "reasons": list(each.reasons)})
        else:
            out.line(out.styled(each.what, "name"))
            out.wrapped(f"  {'; '.join(each.reasons)}", "  ")
    if found:
        if secret and not out.show_secrets:
            what = f"the bytes may be {secret[0].what}, which can contain secrets"
            note(f"{what}: specify the message, or use --show-secrets")
            return 0
        return _best(found, data, given, out, package)
    reason = reason or "no message of this package decodes these bytes completely and re-encodes them"
    if out.is_json:
        out.record({"message": None, "reasons": [reason]})
    else:
        out.line(reason)
    return 1


def _other_file(data: bytes, word: str | None) -> str:
    """Return the command for a capture file or a log segment, or an empty string."""
    from ...capture import is_capture
    from .._detection import has_batches

    is_file = word and word == safe(word) and os.path.isfile(word) and os.path.getsize(word) == len(data)
    file = quote(word) if word and is_file else "FILE"
    if data[:2] == b"\x1f\x8b":
        return (
            f"this is compressed with gzip: use kafka-messages capture {file} for a capture, or log for a log segment"
        )
    if is_capture(data[:4]):
        return f"this is a capture file: use kafka-messages capture {file}"
    if has_batches(data):
        return f"this is a log segment or a record batch: use kafka-messages log {file}; --batches prints the headers"
    return ""


def _guesses(found: list[Candidate]) -> list[Candidate]:
    """Return the candidates that fit about as well as the first one; none if the first one is no guess."""
    near = [each for each in found if each.score > found[0].score - _MARGIN and not found[0].is_certain]
    return near if len({each.message for each in near}) > 1 or (near and found[0].score < _SURE) else []


def _best(found: list[Candidate], data: bytes, given: Namespace, out: Output, package: Package) -> int:
    best = found[0]
    subject = Subject(package, data, is_framed="length" in best.before, has_header=bool(best.before))
    if equal := [each.what.partition(" after ")[0] for each in found[1:] if not round(each.score - best.score, 1)]:
        more = f", and {len(equal) - MOST} more" if len(equal) > MOST else ""
        note(f"others fit equally well: {', '.join(equal[:MOST])}{more}; specify the message")
    elif _guesses(found):
        note(f"{best.message} is a guess: specify the message if it is another")
    info = entries_of(package, best.message)[0]
    if info.kind != "request" or not subject.has_header:  # later frames may be other requests
        subject.set_message(info)
        subject.version = int(best.versions.rpartition("-")[2])
    if subject.is_framed and subject.kind == "response":
        _, subject.data = next(subject.pieces())
        if len(subject.data) < len(data):
            note(f"only the first of several frames is explained, {len(subject.data)} of {len(data)} bytes")
    if not out.is_json:
        out.line()
    return _printed(subject, given, out)
