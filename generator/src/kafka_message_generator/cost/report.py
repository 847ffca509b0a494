"""Reports of costs as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from kafka_message_generator.cost.encodings import FORMS, SizeRange
from kafka_message_generator.cost.measure import Cost, FieldCost

_HEADER = ("integer field", "type", "defined as", "values", "bytes", *FORMS, "smallest", "share")
_TEXT_COLUMNS = (0, 1, 2, 8)  # left-aligned columns of ``_HEADER``


def text(cost: Cost, source: str) -> str:
    total = cost.totals.defined
    rows = [_HEADER, *map(_row, cost.fields)]
    rows.append(("everything else", "", "", "", _number(cost.other), "", "", "", "", _percent(cost.other, total)))
    whole = asdict(cost.totals)
    defined = whole.pop("defined")
    columns = [("", "as defined", *(f"all {form}" for form in FORMS), "smallest of each field")]
    columns.append(("bytes", _number(defined), *map(_number, whole.values())))
    columns.append(("", "100.0%", *(_percent(value, defined) for value in whole.values())))
    count = "1 sample" if cost.samples == 1 else f"{cost.samples:,} samples"
    return "\n".join(
        (
            f"{cost.message} version {cost.version}, {count}, {total:,} bytes",
            f"samples: {source}",
            "",
            *_aligned(rows, _TEXT_COLUMNS),
            "",
            *_aligned(columns, (0,)),
        )
    )


def as_json(cost: Cost, source: str) -> str:
    return json.dumps({**asdict(cost), "other": cost.other, "source": source}, indent=2)


def histogram_text(bits: int, signed: Sequence[SizeRange], unsigned: Sequence[SizeRange]) -> str:
    return "\n".join(
        (
            f"packed{bits} (zig-zag varint), for numbers around zero",
            "",
            *_ranges(signed),
            "",
            f"upacked{bits} (plain varint), for numbers from zero on",
            "",
            *_ranges(unsigned),
            "",
            f"upacked{bits} writes a negative number as its two's complement: {unsigned[-1].bytes} bytes in every case.",
            f"fixed{bits} takes {bits // 8} bytes in every case.",
        )
    )


def histogram_json(bits: int, signed: Sequence[SizeRange], unsigned: Sequence[SizeRange]) -> str:
    return json.dumps(
        {f"packed{bits}": [asdict(each) for each in signed], f"upacked{bits}": [asdict(each) for each in unsigned]},
        indent=2,
    )


def _ranges(ranges: Sequence[SizeRange]) -> Iterator[str]:
    rows = [("from", "to", "bytes"), *((_number(s.lowest), _number(s.highest), str(s.bytes)) for s in ranges)]
    return _aligned(rows, ())


def _row(field: FieldCost) -> tuple[str, ...]:
    sizes = (field.values, field.defined, field.fixed, field.packed, field.upacked)
    return (
        field.path,
        field.type,
        field.encoding,
        *map(_number, sizes),
        field.smallest or "-",
        f"{field.share:.1%}",
    )


def _aligned(rows: Sequence[tuple[str, ...]], left: Sequence[int]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        yield "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width) for column, (cell, width) in cells
        ).rstrip()


def _number(value: int) -> str:
    return f"{value:,}"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
