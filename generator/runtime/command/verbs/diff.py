"""``diff``: two versions of a message, or two messages in bytes."""

from __future__ import annotations

from .._input import read_bytes
from .._names import Entry, entry, is_version, version_of
from .._options import Argument, Command, Given, InputError, UsageError
from .._output import Output
from .._subject import IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...explain import Explanation


def run(given: Given, out: Output) -> int:
    """0 if both are the same, 1 if they differ or cannot be read."""
    found = entry(given.text("message") or "")
    version = version_of(found, given.text("version") or "")
    words = given.every("other")
    if len(words) == 1 and is_version(words[0]):
        return _versions(found, version, version_of(found, words[0]), out)
    if len(words) != 2:
        raise UsageError("another version is needed, or two messages as files or hex")
    return _messages(found, version, words, given.text("in"), out)


def _versions(found: Entry, left: int, right: int, out: Output) -> int:
    """Fields that only one version has, and those that look otherwise."""
    from ..._base.message import class_of
    from .._layouts import rows_of

    differing = False
    for row in rows_of(class_of(found.name)):
        before, after = row.types.get(left), row.types.get(right)
        if before == after and row.mark(left) == row.mark(right):
            continue
        differing = True
        _tell(row.path, _form(before, row.mark(left)), _form(after, row.mark(right)), out)
    return int(differing)


def _form(kind: str | None, mark: str) -> str | None:
    return kind if kind is None or mark in "+?" else f"{kind}, tagged"


def _messages(found: Entry, version: int, words: list[str], form: str | None, out: Output) -> int:
    """Fields whose values differ; and a word if only the bytes do."""
    from ..._base.message import class_of
    from ...explain import explain

    sides = [explain(read_bytes(word, form), class_of(found.name), version) for word in words]
    for word, side in zip(words, sides, strict=True):
        if side.error is not None:
            raise InputError(f"{word}: {side.error}")
    left, right = (_values(side, out.show_secrets) for side in sides)
    differing = [path for path in {**left, **right} if left.get(path) != right.get(path)]
    for path in differing:
        before, after = (side[path][1] if path in side else None for side in (left, right))
        _tell(path, before, after, out)
    if not differing and sides[0].data != sides[1].data:
        differing.append("")
        _tell("", f"{len(sides[0].data)} bytes", f"{len(sides[1].data)} bytes, which say the same otherwise", out)
    return int(bool(differing))


def _values(side: Explanation, show_secrets: bool) -> dict[str, tuple[object, str]]:
    """What is compared and what is shown, by path; of counts and values alike."""
    from ..._core.words import quoted
    from ...secrets import HIDDEN

    found: dict[str, tuple[object, str]] = {}
    for row, leaf in zip(side.rows(show_secrets=True), side.leaves(), strict=True):
        if leaf.role == "value" or (leaf.role == "length" and leaf.name == "count"):
            value = row["value"]
            text = (
                "null"
                if value is None
                else quoted(value) if isinstance(value, str) and isinstance(leaf.value, str) else str(value)
            )
            text = f"{text} elements" if leaf.name == "count" else text
            found[leaf.path] = value, HIDDEN if leaf.is_secret and not show_secrets else text
        elif leaf.role == "rest":
            found[f"{leaf.path}, further on"] = row["hex"], leaf.note
    return found


def _tell(path: str, before: str | None, after: str | None, out: Output) -> None:
    if out.is_json:
        out.record({"path": path, "left": before, "right": after})
        return
    out.line(out.styled(path or "the bytes", "name"))
    if before is not None:
        out.line(out.styled(f"  - {before}", "fault"))
    if after is not None:
        out.line(out.styled(f"  + {after}", "value"))


COMMAND = Command(
    run,
    (
        Argument("message", "name of a message", completes="message"),
        Argument("version", "a version of it, or latest"),
        Argument("other", "another version, or two messages as files or hex", is_repeated=True, completes="file"),
    ),
    (IN,),
    ("diff MetadataResponse 12 13", "diff MetadataResponse 13 before.bin after.bin"),
    "The exit status is 1 if they differ.",
)
