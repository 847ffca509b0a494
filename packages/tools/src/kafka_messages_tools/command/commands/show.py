"""Subcommand ``show``: fields of a message across versions, the layout of a version, or one field."""

from __future__ import annotations

from ...text import suggestion, wrapped
from .._errors import NotFoundError, UsageError
from .._names import entries_of, flexible_versions, header_versions, version_of
from .._since import Releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kafka_messages import MessageInfo

    from ...package import Package
    from .._layouts import LayoutRow
    from .._output import Output


LEGEND = "+ present   ? nullable   t tagged   T tagged, nullable   . absent"
EXAMPLES = (
    "show MetadataResponse",
    "show 3 13",
    "show MetadataResponse --field topics.topic_id",
    "show --field topicId",
)
MORE = LEGEND


def add_arguments(parser: ArgumentParser) -> None:
    about = "a message, or an API by name or key: its request and response"
    parser.add_argument("message", nargs="?", help=about)
    parser.add_argument("version", nargs="?", help="show only the layout of this version, or of latest")
    about = "one field, by path or name; without MESSAGE, in all messages"
    parser.add_argument("--field", metavar="PATH", help=about)
    parser.add_argument("--entity", metavar="TYPE", help="fields of one entity type, such as topicName")


def run(given: Namespace, out: Output, package: Package) -> int:
    from .._layouts import rows_of

    word, field, entity = given.message, given.field, given.entity
    if word is None:
        return _everywhere(package, field, entity, out)
    found = entries_of(package, word)
    chosen = [(each, _chosen(rows_of(package, each.name), field, entity)) for each in found]
    if field is not None or entity is not None:
        if not any(rows for _, rows in chosen):
            paths = [row.path for each in found for row in rows_of(package, each.name)]
            what = (
                f"no field {field!r}{suggestion(field, paths)}"
                if field is not None
                else f"no field of entity type {entity!r}"
            )
            raise NotFoundError(
                f"{' and '.join(each.name for each in found)} {'has' if len(found) == 1 else 'have'} {what}"
            )
        chosen = [(each, rows) for each, rows in chosen if rows]
    display = _Display(package, out)
    for number, (each, rows) in enumerate(chosen):
        if number and not out.is_json:
            out.line()
        display.message(each, rows, given.version, field is None and entity is None, len(found) > 1)
    return 0


def _chosen(rows: list[LayoutRow], field: str | None, entity: str | None) -> list[LayoutRow]:
    from .._fields import has_path, is_field

    if entity is not None:
        rows = [row for row in rows if _names(row, entity)]
    if field is None:
        return rows
    return [row for row in rows if has_path(row, field)] or [row for row in rows if is_field(row, field)]


def _names(row: LayoutRow, entity: str) -> bool:
    return entity.lower() in map(str.lower, row.entities)


def _everywhere(package: Package, field: str | None, entity: str | None, out: Output) -> int:
    from .._fields import is_field, print_rows, rows_with

    if field is None and entity is None:
        raise UsageError("MESSAGE is missing; without it use --field or --entity")
    rows = rows_with(package, lambda row: field is None or is_field(row, field), out)
    kinds = {kind for row in rows for kind in row.entities}
    rows = [row for row in rows if entity is None or _names(row, entity)]
    if not rows:
        of_type = "" if entity is None else f" of entity type {entity!r}{suggestion(entity, kinds)}"
        called = "" if field is None else f" named {field!r}"
        raise NotFoundError(f"no message has a field{called}{of_type}")
    print_rows(rows, out)
    return 0


class _Display:
    def __init__(self, package: Package, out: Output) -> None:
        self._package = package
        self._out = out
        self._releases = Releases(package)

    def message(
        self, found: MessageInfo, rows: list[LayoutRow], version: str | None, is_whole: bool, is_one_of_two: bool
    ) -> None:
        if version is not None:
            number = version_of(found, version)
            self._layout(found, [row for row in rows if number in row.types], number, is_whole)
        elif self._out.is_json:
            for row in rows:
                self._out.record(self._to_object(row))
        elif is_whole:
            self._matrix(found, rows)
        else:
            if is_one_of_two:
                self._out.line(self._out.styled(found.name, "bold"))
            for row in rows:
                self._print_lifetime(row)

    def _matrix(self, found: MessageInfo, rows: list[LayoutRow]) -> None:
        self._out.line(self._title(found))
        is_known = self._releases.knows(found.name)
        if is_known:
            for line in wrapped(f"Kafka: {self._releases.lifetimes(found.name)}", max(self._out.width - 2, 20)):
                self._out.line(f"  {line}")
        versions = range(found.valid_versions.lowest, found.valid_versions.highest + 1)
        width = len(str(found.valid_versions.highest)) + 1
        longest = max((len(_indented(row)) for row in rows), default=0) + max(
            (len(row.type) for row in rows), default=0
        )
        since: list[str] = ["since"] if is_known else []
        blank = [""] * len(since)
        if longest + width * len(versions) + 26 + 7 * len(since) > self._out.width:
            width = 1
            tens = "".join(str(version // 10) if version > 9 else " " for version in versions)
            heads: list[tuple[str, ...]] = [("", "", tens, *blank, "")] if found.valid_versions.highest > 9 else []
            heads.append(("field", "type", "".join(str(version % 10) for version in versions), *since, ""))
        else:
            heads = [("field", "type", "".join(str(version).rjust(width) for version in versions), *since, "")]
        marks = [
            (
                _indented(row),
                _short(row, width),
                "".join(row.mark(each).rjust(width) for each in versions),
                *((self._releases.in_versions(row, row.types).label,) if is_known else ()),
                _words(row),
            )
            for row in rows
        ]
        self._out.table(heads[0], [*heads[1:], *marks])
        self._out.line(self._out.styled(LEGEND, "dim"))

    def _title(self, found: MessageInfo) -> str:
        key = f", key {found.api_key}" if found.api_key is not None else ""
        header = f", header version {headers}" if (headers := header_versions(self._package, found)) else ""
        what = (
            f"{found.kind}{key}, versions {found.valid_versions.notation}, flexible {flexible_versions(found)}{header}"
        )
        first, *more = wrapped(what, max(self._out.width - len(found.name) - 2, 20))
        return "\n".join([f"{self._out.styled(found.name, 'bold')}  {first}", *(f"  {each}" for each in more)])

    def _layout(self, found: MessageInfo, rows: list[LayoutRow], version: int, is_whole: bool) -> None:
        if self._out.is_json:
            for row in rows:
                self._out.record(
                    self._to_object(row)
                    | {"version": version, "wire_type": row.types[version]}
                    | self._lifetime_of(row, version)
                )
            return
        self._out.line(self._title(found))
        lifetime = self._releases.of_version(found.name, version).text if self._releases.knows(found.name) else ""
        self._out.line(f"version {version}{', ' if lifetime else ''}{lifetime}")
        self._out.table(
            ("field", "type on the wire", ""), [(_indented(row), row.types[version], _words(row)) for row in rows]
        )
        if is_whole:
            self._out.line()
            text = (
                self._package.message(found.name)
                .schemas()[version]
                .bnf(f"{found.name} (Version: {version})")
                .rstrip("\n")
            )
            for line in text.splitlines():
                self._out.wrapped(line, " " * (len(line) - len(line.lstrip()) + 4))

    def _print_lifetime(self, row: LayoutRow) -> None:
        self._out.line(f"{self._out.styled(row.path, 'name')}  {row.type}  {_words(row)}".rstrip())
        for first, last, kind in row.runs():
            marks = {row.mark(version) for version in range(first, last + 1)}
            nullable = sorted(version for version in range(first, last + 1) if row.mark(version) in "?T")
            words = ["tagged"] if marks & {"t", "T"} else []
            words += [f"may be null from version {nullable[0]}"] if nullable and len(marks) > 1 else []
            words += ["may be null"] if nullable and len(marks) == 1 else []
            words += (
                [self._releases.in_versions(row, range(first, last + 1)).text]
                if self._releases.knows(row.message.name)
                else []
            )
            versions = f"version {first}" if first == last else f"versions {first}-{last}"
            self._out.line(f"  {versions:<16}{', '.join(filter(None, (kind, *words)))}")

    def _to_object(self, row: LayoutRow) -> dict[str, object]:
        descriptor = row.descriptor
        versions = list(row.types)
        nullable = [version for version in versions if version in descriptor.nullable]
        tagged = [version for version in versions if version in descriptor.tagged]
        return {
            "message": row.message.name,
            "path": row.path,
            "type": row.type,
            "versions": [{"first": first, "last": last, "type": kind} for first, last, kind in row.runs()],
            "nullable_versions": nullable,
            "tagged_versions": tagged,
            "tag": descriptor.tag,
            "default": row.default or None,
            "entity_types": list(row.entities),
            "ignorable": descriptor.ignorable,
            "map_key": descriptor.map_key,
        } | self._lifetimes_of(row)

    def _lifetimes_of(self, row: LayoutRow) -> dict[str, object]:
        if not self._releases.knows(row.message.name):
            return {}
        lifetimes = [
            {"first": first, "last": last} | lifetime.to_object()
            for first, last, lifetime in self._releases.runs(row, row.types)
        ]
        return self._releases.in_versions(row, row.types).to_object() | {"releases": lifetimes}

    def _lifetime_of(self, row: LayoutRow, version: int) -> dict[str, object]:
        known = self._releases.knows(row.message.name)
        return {"version_since": self._releases.in_version(row, version).since} if known else {}


def _short(row: LayoutRow, width: int) -> str:
    return (
        row.type if width > 1 or not row.descriptor.is_struct else "[]struct" if row.descriptor.is_array else "struct"
    )


def _indented(row: LayoutRow) -> str:
    above, _, name = row.path.rpartition(".")
    return "  " * (above.count(".") + 1 if above else 0) + name


def _words(row: LayoutRow) -> str:
    words = [f"default {row.default}"] if row.default else []
    words += [f"tag {row.descriptor.tag}"] if row.descriptor.tag is not None else []
    words += ["key of the collection"] if row.descriptor.map_key else []
    words += [f"a {' or '.join(row.entities)}"] if row.entities else []
    words += ["ignorable"] if row.descriptor.ignorable else []
    return ", ".join(words)
