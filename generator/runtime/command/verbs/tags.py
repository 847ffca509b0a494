"""``tags``: the tagged fields of all messages."""

from __future__ import annotations

from .._names import entries
from .._options import Argument, Command, Given
from .._output import Output, Progress


def run(given: Given, out: Output) -> int:
    """Tagged fields of messages whose name has the pattern in it; 1 if there is none."""
    from ..._base.message import class_of
    from .._layouts import Range, rows_of

    pattern = (given.text("pattern") or "").lower()
    named = [each for each in entries() if pattern in each.name.lower()]
    found = []
    with Progress("messages", len(named)) as progress:
        for each in named:
            progress.step()
            if each.flexible > each.highest:
                continue
            for row in rows_of(class_of(each.name)):
                tagged = [version for version in row.types if version in row.facts.tagged]
                if tagged:
                    found.append((each.name, row, Range(tagged[0], tagged[-1]).shown))
    if out.is_json:
        for name, row, versions in found:
            out.record(
                {"message": name, "path": row.path, "tag": row.facts.tag, "type": row.type, "versions": versions}
            )
    elif found:
        rows = [(name, row.path, row.facts.tag, row.type, versions) for name, row, versions in found]
        out.table(("message", "field", "tag", "type", "versions"), rows)
    return 0 if found else 1


COMMAND = Command(
    run,
    (Argument("pattern", "part of a message's name", is_optional=True, completes="message"),),
    (),
    ("tags", "tags fetch"),
)
