"""Subcommand ``list``: messages with keys, versions and header versions."""

from __future__ import annotations

from ...text import suggestion
from .._errors import NotFoundError
from .._names import flexible_versions, header_versions, headers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ...package import Package
    from .._output import Output

EXAMPLES = ("list metadata", "list --kind coordinator-value")
MORE = "The key is the API key of requests and responses, and the record type of records."


def add_arguments(parser: ArgumentParser) -> None:
    from .._arguments import KINDS, one_of

    parser.add_argument("pattern", nargs="?", help="part of a name")
    parser.add_argument("--kind", metavar="KIND", help="messages of one kind only", **one_of(KINDS))


def run(given: Namespace, out: Output, package: Package) -> int:
    word, kind, known = given.pattern or "", given.kind, package.root.all_messages()
    pattern = word.lower()
    found = [each for each in known if pattern in each.name.lower() and kind in (None, each.kind)]
    if not found:
        of_kind = "" if kind is None else f" of the kind {kind}"
        names = [each.name for each in known if kind in (None, each.kind)]
        raise NotFoundError(f"no message{of_kind} contains {word!r} in its name{suggestion(word, names)}")
    if out.is_json:
        for each in found:
            out.record(
                {
                    "message": each.name,
                    "kind": each.kind,
                    "key": each.api_key,
                    "lowest_version": each.valid_versions.lowest,
                    "highest_version": each.valid_versions.highest,
                    "flexible_from": each.flexible_versions.lowest if each.flexible_versions else None,
                    "headers": [
                        {"from_version": first, "header_version": header} for first, header in headers_of(package, each)
                    ],
                }
            )
    else:
        rows = [
            (
                each.name,
                each.kind,
                each.api_key,
                each.valid_versions.notation,
                flexible_versions(each),
                header_versions(package, each),
            )
            for each in found
        ]
        out.table(("message", "kind", "key", "versions", "flexible", "header"), rows)
    return 0
