"""``tags``: the tagged fields of all messages."""

from __future__ import annotations

from .._names import entries
from .._options import Argument, Command, Given, NotFoundError, meant
from .._output import Output


def run(given: Given, out: Output) -> int:
    """Tagged fields of messages whose name has the pattern in it. Raises NotFoundError if there is none."""
    from .._fields import rows_with, shown

    word = given.text("pattern") or ""
    pattern = word.lower()
    named = [each for each in entries() if pattern in each.name.lower()]
    if not named:
        raise NotFoundError(f"no message has {word!r} in its name{meant(word, [each.name for each in entries()])}")
    flexible = [each for each in named if each.flexible <= each.highest]
    rows = rows_with(lambda row: any(version in row.facts.tagged for version in row.types), out, flexible)
    if not rows:
        raise NotFoundError(f"no message with {word!r} in its name has tagged fields")
    found = [(row, shown([version for version in row.types if version in row.facts.tagged])) for row in rows]
    if out.is_json:
        for row, versions in found:
            names = {"message": row.message.name, "path": row.path, "tag": row.facts.tag}
            out.record(names | {"type": row.type, "versions": versions})
    else:
        cells = [(row.message.name, row.path, row.facts.tag, row.type, versions) for row, versions in found]
        out.table(("message", "field", "tag", "type", "versions"), cells, has_groups=True)
    return 0


COMMAND = Command(
    run,
    (Argument("pattern", "part of a message's name", is_optional=True, completes="message"),),
    (),
    ("tags", "tags fetch"),
)
