"""Markdown report on integer encodings: measurements and the proposal's formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import encoded_metadata as metadata
from codec import Operation
from encoded_metadata import FORMS, Contents
from markdown import number, table

CODECS = ("Struct", "Buffer")
COLUMNS: tuple[tuple[str, Operation], ...] = tuple(
    (codec, operation) for codec in CODECS for operation in ("encode", "decode")
)
TITLES: Mapping[Operation, str] = {"encode": "serialize", "decode": "deserialize"}
REPLICAS = ((1, 1, 0), (2, 2, 0), (3, 3, 0), (3, 2, 1), (5, 5, 0), (40, 40, 40))


@dataclass(frozen=True)
class Conditions:
    command: str
    python: str
    samples: int
    milliseconds: int


@dataclass(frozen=True)
class Series:
    times: Mapping[str, Sequence[float]]

    def microseconds(self, form: str) -> float:
        return median(self.times[form]) * 1e6

    def ratio(self, form: str) -> float:
        return median(mine / fixed for mine, fixed in zip(self.times[form], self.times["fixed"], strict=True))

    def noise(self) -> float:
        return max(median(times) / min(times) for times in self.times.values())


@dataclass(frozen=True)
class Result:
    contents: Contents
    sizes: Mapping[str, int]
    series: Mapping[tuple[str, Operation], Series]

    def relative_size(self, form: str) -> float:
        return self.sizes[form] / self.sizes["fixed"]


def render(conditions: Conditions, results: Sequence[Result]) -> str:
    noise = [series.noise() for result in results for series in result.series.values()]
    header = ["encoding", "numbers", "bytes", *(f"{codec} {TITLES[operation]}" for codec, operation in COLUMNS)]
    rows = [_row(result, form) for result in results for form in FORMS]
    return "\n".join(
        [
            f"`{conditions.command}`",
            "",
            f"- {conditions.python}; CPU time per message, median of {conditions.samples} samples of about"
            f" {conditions.milliseconds} ms; the encodings take turns",
            "- a round takes one sample of each encoding; ratios to `fixed` are taken within a round,"
            " and their median is shown: below 1 is smaller or faster",
            f"- noise: median over minimum is {median(noise):.2f} typically, {max(noise):.2f} at worst",
            *(f"- {result.contents.name} numbers: {result.contents.about}" for result in results),
            "",
            *table(header, rows, texts=2),
            "",
            *formulas(),
        ]
    )


def _row(result: Result, form: str) -> list[str]:
    def cell(value: str, ratio: float) -> str:
        return value if form == "fixed" else f"**{ratio:.2f}** ({value})"

    times = [
        cell(f"{number(series.microseconds(form))} µs", series.ratio(form))
        for series in (result.series[column] for column in COLUMNS)
    ]
    size = cell(f"{result.sizes[form]:,}", result.relative_size(form))
    return [form, result.contents.name, size, *times]


def formulas() -> list[str]:
    """Return the proposal's formulas and the measured sizes; exit if they differ."""
    rows = []
    for nodes in REPLICAS:
        sizes = {form: metadata.size_of_partition(form, *nodes) for form in FORMS}
        expected = {form: metadata.formula(form, *nodes) for form in FORMS}
        if sizes != expected:
            raise SystemExit(f"a partition with R, I, O = {nodes} takes {sizes}, but by the formulas {expected}")
        text = {form: str(size - 1) for form, size in expected.items()}
        measured = {form: str(size) for form, size in sizes.items()}
        cells = [text["fixed"], measured["fixed"], text["packed"], measured["packed"], measured["upacked"]]
        rows.append([*map(str, nodes), *cells])
    header = ["R", "I", "O", "17 + 4(R+I+O)", "fixed", "7 + R+I+O", "packed", "upacked"]
    return list(table(header, rows, texts=0))
