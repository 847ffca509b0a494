"""Fields of all messages: those that are asked for, and how they are told."""

from __future__ import annotations

from .._base.message import class_of
from .._core.versions import Versions
from ._layouts import Row, rows_of
from ._names import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ._names import Entry
    from ._output import Output


def rows_with(wanted: Callable[[Row], bool], out: Output, named: Sequence[Entry] | None = None) -> list[Row]:
    """The fields that are wanted, of some messages or all."""
    found = []
    some = entries() if named is None else named
    with out.progress("messages", len(some)) as progress:
        for each in some:
            progress.step()
            found += [row for row in rows_of(class_of(each.name)) if row.types and wanted(row)]
    return found


def tell(rows: Sequence[Row], out: Output) -> None:
    """Message, path, type and versions of fields."""
    if out.is_json:
        for row in rows:
            out.record(facts_in_short(row))
        return
    head = ("message", "field", "type", "versions", "null in", "tagged in")
    cells = [(row.message.name, row.path, row.type, *map(shown, _runs(row))) for row in rows]
    out.table(head, cells, has_groups=True)


def facts_in_short(row: Row) -> dict[str, object]:
    """The same for programs."""
    versions, nullable, tagged = map(list, _runs(row))
    names: dict[str, object] = {"message": row.message.name, "path": row.path, "type": row.type}
    return names | {"versions": versions, "nullable_versions": nullable, "tagged_versions": tagged}


def _runs(row: Row) -> Iterator[Sequence[int]]:
    yield list(row.types)
    for versions in (row.facts.nullable, row.facts.tagged):
        yield [version for version in row.types if version in versions]


def shown(versions: Sequence[int]) -> str:
    """``0-3, 5``"""
    runs: list[Versions] = []
    for version in versions:
        if runs and runs[-1].highest == version - 1:
            runs[-1] = Versions(runs[-1].lowest, version)
        else:
            runs.append(Versions(version, version))
    return ", ".join(run.notation for run in runs)


def has_path(row: Row, word: str) -> bool:
    """Whether a field has a path, in the names of Python or Kafka, in any case."""
    return _plain(row.path) == _plain(word)


def is_field(row: Row, word: str) -> bool:
    """The same for the end of a path, such as the name of the field alone."""
    return f".{_plain(row.path)}".endswith(f".{_plain(word)}")


def _plain(path: str) -> str:
    return path.replace("[]", "").replace("_", "").lower()
