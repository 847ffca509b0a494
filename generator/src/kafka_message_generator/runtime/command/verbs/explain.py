"""``explain``: what each byte is."""

from __future__ import annotations

from .._options import Command, Given, Option
from .._output import Output, note
from .._subject import BYTES, MESSAGE, OPTIONS, VERSION, Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...explain import Explanation


_ALL = 1 << 62
FIELDS = 50_000
"""Fields that are shown unless more are asked for: some seconds and less than 200 MB."""


def run(given: Given, out: Output) -> int:
    """Each message, one after the other; 1 if one cannot be read to its end, or is behind as many fields as are shown."""
    subject = Subject(given)
    status = 0
    most = given.number("limit")
    left = FIELDS if most is None else most or _ALL
    for address, data in subject.pieces():
        if left <= 0:
            note(f"the messages from byte {address} on are not shown; --limit says how many fields are, 0 shows all")
            return 1
        found = _explained(subject, data, given.flag("records"), left)
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
                whole=given.flag("all"),
                address=address,
            )
            out.line(text.rstrip("\n"))
    return status


def _explained(subject: Subject, data: bytes, records: bool, limit: int) -> Explanation:
    from ...explain import explain, explain_record, explain_request, explain_response

    framed, version = subject.is_framed, subject.version
    if subject.kind == "request" and subject.has_header:
        return explain_request(data, framed=framed, records=records, limit=limit)
    if subject.kind == "response" and subject.has_header:
        return explain_response(data, subject.message, version, framed=framed, records=records, limit=limit)
    if subject.has_header:
        return explain_record(data, subject.message, records=records, limit=limit)
    return explain(data, subject.message, version, records=records, limit=limit)


COMMAND = Command(
    run,
    (MESSAGE, VERSION, BYTES),
    (
        *OPTIONS,
        Option("records", "open record batches too"),
        Option("all", "all bytes of long fields"),
        Option("limit", f"fields that are shown, {FIELDS:,} unless it is said; 0 for all", "FIELDS", is_number=True),
    ),
    (
        "explain MetadataResponse 13 response.bin",
        "explain --frame requests.bin",
        "explain ApiVersionsRequest 3 '05 6a 61 76 61 06 34 2e 34 2e 30 00'",
    ),
    "Damaged bytes are shown up to the fault; the exit status is 1 then.",
)
