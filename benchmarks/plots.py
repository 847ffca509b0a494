"""Plots of integer encodings."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from encoded_metadata import schema_module
from encodings_report import COLUMNS, TITLES, Result

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages" / "pipeline" / "src"))

from kafka_messages_spark._charts.document import document
from kafka_messages_spark._charts.model import Bar, Bars, Chart, Panel, Series, Style

KINDS: Mapping[str, Style] = {"fixed": "calm", "packed": "good", "upacked": "notice"}
MINUS = "\N{MINUS SIGN}"
# Bits at which the encoding grows by a byte.
STEPS = {"packed": (6, 13, 20, 27), "upacked": (7, 14, 21, 28)}


def draw(folder: Path, results: Sequence[Result]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("encodings", measurements(results)), ("encodings-histogram", histogram())):
        (folder / f"{name}.svg").write_text(content, encoding="utf-8")


def measurements(results: Sequence[Result]) -> str:
    return document("Size and time of packed and upacked integers relative to fixed ones", [*map(_bars, results)])


def _bars(result: Result) -> Bars:
    bars = [Bar("fixed", 1, "1.00", "fixed")]
    for name, packed, upacked in zip(
        ("size", *(f"{codec} {TITLES[operation]}" for codec, operation in COLUMNS)),
        _ratios(result, "packed"),
        _ratios(result, "upacked"),
        strict=True,
    ):
        bars += [Bar(name, packed, f"{packed:.2f}", "packed"), Bar("", upacked, f"{upacked:.2f}", "upacked")]
    title = f"{result.contents.name.capitalize()} numbers ({result.sizes['fixed']:,} bytes when fixed)"
    return Bars(title, KINDS, bars, values="relative to fixed; lower is better")


def _ratios(result: Result, form: str) -> list[float]:
    return [result.relative_size(form), *(result.series[column].ratio(form) for column in COLUMNS)]


def histogram() -> str:
    types: Any = schema_module()
    kinds = {"packed": types.PACKED32, "upacked": types.UPACKED32}
    fixed = Series("fixed32", [(bits, 4) for bits in range(-32, 33)], 5, dashed=True)
    rows = []
    for color, (form, kind) in enumerate(kinds.items()):
        points = [(bits, kind.size_of(_value(bits))) for bits in range(-32, 32)]
        marks = (
            [(-1 - step, f"{MINUS}{_power(step)}") for step in reversed(STEPS["packed"])] if form == "packed" else []
        )
        marks += [(0, "0"), *((step + 1, _power(step)) for step in STEPS[form])]
        title = f"{form}32: bytes of each value; fixed32 takes 4 (dashed)"
        rows.append([Panel(title, [fixed, Series(f"{form}32", points, color)], from_zero=True, marks=marks)])
    return document("Bytes of a 32-bit value when packed, upacked and fixed", [Chart("Bytes by value", rows)])


def _value(bits: int) -> int:
    # The first value with this many bits; ``bits`` below 0 give a negative value.
    return 1 << bits >> 1 if bits >= 0 else ~_value(-1 - bits)


def _power(exponent: int) -> str:
    return "2" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
