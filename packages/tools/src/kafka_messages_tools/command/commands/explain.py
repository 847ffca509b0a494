"""Subcommand ``explain``: meaning of each byte."""

from __future__ import annotations

from .._output import Output, note
from .._subject import Subject
from .._subject import add_arguments as add_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from ...package import Package


_ALL = 1 << 62
# Default maximum number of fields shown, which takes a few seconds and less than 200 MB.
FIELDS = 50_000

EXAMPLES = (
    "explain MetadataResponse 13 response.bin",
    "explain --frame requests.bin",
    "explain ApiVersionsRequest 3 '05 6a 61 76 61 06 34 2e 34 2e 30 00'",
)
MORE = "Damaged bytes are shown up to the error, with exit status 1."


def add_arguments(parser: ArgumentParser) -> None:
    from .._arguments import number

    add_subject(parser)
    parser.add_argument("--records", action="store_true", help="also show the records of record batches")
    parser.add_argument("--all", action="store_true", help="show all bytes of long fields")
    about = f"maximum number of fields shown, {FIELDS:,} by default; 0 for all"
    parser.add_argument("--limit", metavar="FIELDS", type=number, help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    subject = Subject(package, given)
    status = 0
    most = given.limit
    left = FIELDS if most is None else most or _ALL
    for address, data in subject.pieces():
        if left <= 0:
            note(f"the messages from byte {address} on are not shown; raise --limit, or use --limit 0 to show all")
            return 1
        found = _explained(subject, data, given.records, left)
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
            if found.error is not None and (looks_like := package.foreign_protocol(data)):
                out.line(f"this looks like {looks_like}")
    return status


def _explained(subject: Subject, data: bytes, records: bool, limit: int) -> Any:
    explain = subject.package.module("explain")
    framed, version = subject.is_framed, subject.version
    if subject.kind == "request" and subject.has_header:
        return explain.explain_request(data, framed=framed, records=records, limit=limit)
    if subject.kind == "response" and subject.has_header:
        return explain.explain_response(data, subject.message, version, framed=framed, records=records, limit=limit)
    if subject.has_header:
        return explain.explain_record(data, subject.message, records=records, limit=limit)
    return explain.explain(data, subject.message, version, records=records, limit=limit)
