"""``explain``: what each byte is."""

from __future__ import annotations

from .._options import Command, Given, Option
from .._output import Output
from .._subject import BYTES, MESSAGE, OPTIONS, VERSION, Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...explain import Explanation


def run(given: Given, out: Output) -> int:
    """Each message, one after the other; 1 if one cannot be read to its end."""
    subject = Subject(given)
    status = 0
    for address, data in subject.pieces():
        found = _explained(subject, data, given.flag("records"))
        status |= found.error is not None
        if out.is_json:
            for row in found.rows(show_secrets=out.show_secrets, address=address):
                out.record(row)
        else:
            text = found.text(
                width=out.width,
                color=out.has_color,
                show_secrets=out.show_secrets,
                whole=given.flag("all"),
                address=address,
            )
            out.line(text.rstrip("\n"))
    return status


def _explained(subject: Subject, data: bytes, records: bool) -> Explanation:
    from ...explain import explain, explain_record, explain_request, explain_response

    if subject.kind == "response" and subject.has_header:
        return explain_response(data, subject.message, subject.version, framed=subject.is_framed, records=records)
    if subject.kind == "request" and subject.has_header:
        return explain_request(data, framed=subject.is_framed, records=records)
    if subject.has_header:
        return explain_record(data, subject.message, records=records)
    return explain(data, subject.message, subject.version, records=records)


COMMAND = Command(
    run,
    (MESSAGE, VERSION, BYTES),
    (*OPTIONS, Option("records", "open record batches too"), Option("all", "all bytes of long fields")),
    (
        "explain MetadataResponse 13 response.bin",
        "explain --frame requests.bin",
        "explain ApiVersionsRequest 3 '05 6a 61 76 61 06 34 2e 34 2e 30 00'",
    ),
    "Damaged bytes are shown up to the fault; the exit status is 1 then.",
)
