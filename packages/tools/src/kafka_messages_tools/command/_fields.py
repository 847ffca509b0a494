"""Selection and output of fields across messages."""

from __future__ import annotations

from ._layouts import LayoutRow, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kafka_messages import MessageInfo

    from ..package import Package
    from ._output import Output


def rows_with(
    package: Package, wanted: Callable[[LayoutRow], bool], out: Output, named: Sequence[MessageInfo] | None = None
) -> list[LayoutRow]:
    found = []
    some = package.root.all_messages() if named is None else named
    with out.progress("messages", len(some)) as progress:
        for each in some:
            progress.step()
            found += [row for row in rows_of(package, each.name) if row.types and wanted(row)]
    return found


def print_rows(rows: Sequence[LayoutRow], out: Output) -> None:
    if out.is_json:
        for row in rows:
            out.record(summary(row))
        return
    head = ("message", "field", "type", "versions", "null in", "tagged in")
    cells = [(row.message.name, row.path, row.type, *map(version_ranges, _runs(row))) for row in rows]
    filled = [place for place, column in enumerate(zip(*cells, strict=True)) if any(column)]
    out.table([head[place] for place in filled], [[row[place] for place in filled] for row in cells], has_groups=True)


def summary(row: LayoutRow) -> dict[str, object]:
    versions, nullable, tagged = map(list, _runs(row))
    names: dict[str, object] = {"message": row.message.name, "path": row.path, "type": row.type}
    return names | {"versions": versions, "nullable_versions": nullable, "tagged_versions": tagged}


def _runs(row: LayoutRow) -> Iterator[Sequence[int]]:
    yield list(row.types)
    for versions in (row.descriptor.nullable, row.descriptor.tagged):
        yield [version for version in row.types if version in versions]


def version_ranges(versions: Sequence[int]) -> str:
    """Format version ranges: ``0-3, 5``."""
    runs: list[tuple[int, int]] = []
    for version in versions:
        if runs and runs[-1][1] == version - 1:
            runs[-1] = runs[-1][0], version
        else:
            runs.append((version, version))
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def has_path(row: LayoutRow, word: str) -> bool:
    return _plain(row.path) == _plain(word)


def is_field(row: LayoutRow, word: str) -> bool:
    return f".{_plain(row.path)}".endswith(f".{_plain(word)}")


def _plain(path: str) -> str:
    return path.replace("[]", "").replace("_", "").lower()
