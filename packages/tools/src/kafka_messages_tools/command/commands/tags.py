"""Subcommand ``tags``: tagged fields of all messages."""

from __future__ import annotations

from ...text import suggestion
from .._errors import NotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ...package import Package
    from .._output import Output

EXAMPLES = ("tags", "tags fetch")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("pattern", nargs="?", help="part of a message's name")


def run(given: Namespace, out: Output, package: Package) -> int:
    from .._fields import rows_with, version_ranges

    word, known = given.pattern or "", package.root.all_messages()
    pattern = word.lower()
    named = [each for each in known if pattern in each.name.lower()]
    if not named:
        raise NotFoundError(
            f"no message contains {word!r} in its name{suggestion(word, [each.name for each in known])}"
        )
    flexible = [each for each in named if each.flexible_versions]
    rows = rows_with(package, lambda row: any(version in row.descriptor.tagged for version in row.types), out, flexible)
    if not rows:
        raise NotFoundError(f"no message that contains {word!r} in its name has tagged fields")
    found = [
        (row, version_ranges([version for version in row.types if version in row.descriptor.tagged])) for row in rows
    ]
    if out.is_json:
        for row, versions in found:
            names = {"message": row.message.name, "path": row.path, "tag": row.descriptor.tag}
            out.record(names | {"type": row.type, "versions": versions})
    else:
        cells = [(row.message.name, row.path, row.descriptor.tag, row.type, versions) for row, versions in found]
        out.table(("message", "field", "tag", "type", "versions"), cells, has_groups=True)
    return 0
