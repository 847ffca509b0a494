"""``list``: the messages with keys, versions and header versions."""

from __future__ import annotations

from .._names import entries
from .._options import KINDS, Argument, Command, Given, NotFoundError, Option, meant
from .._output import Output


def run(given: Given, out: Output) -> int:
    """Messages whose name has the pattern in it. Raises NotFoundError if there is none."""
    word, kind = given.text("pattern") or "", given.text("kind")
    pattern = word.lower()
    found = [each for each in entries() if pattern in each.name.lower() and kind in (None, each.kind)]
    if not found:
        of_kind = "" if kind is None else f" of the kind {kind}"
        names = [each.name for each in entries() if kind in (None, each.kind)]
        raise NotFoundError(f"no message{of_kind} has {word!r} in its name{meant(word, names)}")
    if out.is_json:
        for each in found:
            out.record(
                {
                    "message": each.name,
                    "kind": each.kind,
                    "key": each.key,
                    "lowest_version": each.lowest,
                    "highest_version": each.highest,
                    "flexible_from": each.flexible if each.flexible <= each.highest else None,
                    "headers": [{"from_version": first, "header_version": header} for first, header in each.headers],
                }
            )
    else:
        rows = [
            (each.name, each.kind, each.key, each.versions, each.flexible_versions, each.header_versions)
            for each in found
        ]
        out.table(("message", "kind", "key", "versions", "flexible", "header"), rows)
    return 0


COMMAND = Command(
    run,
    (Argument("pattern", "part of a name", is_optional=True, completes="message"),),
    (Option("kind", "messages of one kind only", "KIND", KINDS),),
    ("list metadata", "list --kind coordinator-value"),
    "The key is the API key of requests and responses, and the record type of records.",
)
