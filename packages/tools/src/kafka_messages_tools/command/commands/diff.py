"""Subcommand ``diff``: two versions of a message, or two encoded messages."""

from __future__ import annotations

from ...text import counted
from .._errors import InputError, UsageError
from .._input import read_bytes
from .._names import entries_of, is_version, only_fitting, version_of
from .._subject import add_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kafka_messages import MessageInfo
    from kafka_messages.explain import Explanation

    from ...package import Package
    from .._output import Output

EXAMPLES = ("diff MetadataResponse 12 13", "diff Metadata 12 13", "diff MetadataResponse 13 before.bin after.bin")
MORE = "The exit status is 1 if the versions or messages differ."


def add_arguments(parser: ArgumentParser) -> None:
    about = "a message, or an API by name or key"
    parser.add_argument("message", help=about)
    parser.add_argument("version", help="version of the message, or latest")
    parser.add_argument("other", nargs="+", help="another version, or two messages as files or hex")
    add_form(parser)


def run(given: Namespace, out: Output, package: Package) -> int:
    first, words, found = given.version, given.other, entries_of(package, given.message)
    if len(words) == 1 and is_version(words[0]):
        compared = [(each, version_of(each, first), version_of(each, words[0])) for each in found]
        differing = [_versions(package, *pair, out) for pair in compared]
        return int(any(differing))
    version = version_of(found[0], first)
    if len(words) != 2:
        raise UsageError("expected another version, or two messages as files or hex")
    return _messages(package, found, version, words, given.form, out)


def _versions(package: Package, found: MessageInfo, left: int, right: int, out: Output) -> bool:
    from .._layouts import rows_of

    differing = [
        (row.path, _form(row.types.get(left), row.mark(left)), _form(row.types.get(right), row.mark(right)))
        for row in rows_of(package, found.name)
        if row.types.get(left) != row.types.get(right) or row.mark(left) != row.mark(right)
    ]
    forms = "encoding", _encoding(found, left), _encoding(found, right)
    if forms[1] != forms[2]:
        differing = [forms, *differing]
    if not out.is_json:
        same = "" if differing else ": no differences"
        out.line(out.styled(f"{found.name} v{left} and v{right}{same}", "bold"))
    for path, before, after in differing:
        _print_difference(found, path, before, after, out)
    return bool(differing)


def _encoding(found: MessageInfo, version: int) -> str:
    return "flexible: compact lengths, tagged fields" if version in found.flexible_versions else "not flexible"


def _form(kind: str | None, mark: str) -> str | None:
    return kind if kind is None or mark in "+?" else f"{kind}, tagged"


def _messages(
    package: Package, infos: list[MessageInfo], version: int, words: list[str], form: str | None, out: Output
) -> int:
    explain, redacted = package.module("explain").explain, package.module("secrets").REDACTED
    data = [(word, read_bytes(word, form)) for word in words]

    def fit(info: MessageInfo) -> list[Explanation]:
        explained = [explain(each, package.message(info.name), version) for _, each in data]
        for (word, _), explanation in zip(data, explained, strict=True):
            if explanation.error is not None:
                raise InputError(f"{word}: {explanation.error}")
        return explained

    found, explanations = only_fitting(infos, fit)
    left, right = (_values(explanation, out.show_secrets, redacted) for explanation in explanations)
    differing = [path for path in {**left, **right} if left.get(path) != right.get(path)]
    for path in differing:
        before, after = (values[path][1] if path in values else None for values in (left, right))
        _print_difference(found, path, before, after, out)
    if not differing and explanations[0].data != explanations[1].data:
        differing.append("")
        sizes = [counted(len(explanation.data), "byte") for explanation in explanations]
        _print_difference(found, "", sizes[0], f"{sizes[1]}, otherwise equal", out)
    if not differing and not out.is_json:
        out.line("no differences")
    return int(bool(differing))


def _values(explanation: Explanation, show_secrets: bool, redacted: str) -> dict[str, tuple[object, str]]:
    found: dict[str, tuple[object, str]] = {}
    for row, leaf in zip(explanation.rows(show_secrets=True), explanation.leaves(), strict=True):
        if leaf.role == "value" or (leaf.role == "length" and leaf.name == "count"):
            value = row["value"]
            text = (
                "null"
                if value is None
                else _quoted(value) if isinstance(value, str) and isinstance(leaf.value, str) else str(value)
            )
            text = counted(value, "element") if leaf.name == "count" and isinstance(value, int) else text
            found[leaf.path] = value, redacted if leaf.is_secret and not show_secrets else text
        elif leaf.role == "rest":
            found[f"{leaf.path}, rest"] = row["hex"], leaf.note
    return found


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in plain) + '"'


def _print_difference(found: MessageInfo, path: str, before: str | None, after: str | None, out: Output) -> None:
    if out.is_json:
        out.record({"message": found.name, "path": path, "left": before, "right": after})
        return
    out.line(out.styled(path or "the bytes", "name"))
    if before is not None:
        out.line(out.styled(f"  - {before}", "fault"))
    if after is not None:
        out.line(out.styled(f"  + {after}", "value"))
