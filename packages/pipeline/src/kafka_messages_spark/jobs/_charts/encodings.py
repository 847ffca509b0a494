"""Bar charts of integer fields by encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_messages_spark._charts.model import Bar, Bars, Style

KINDS: Mapping[str, Style] = {"defined": "calm", "packed": "good", "upacked": "notice"}


def pictures(
    fields: Sequence[Mapping[str, Any]], sizes: Mapping[tuple[str, str], Mapping[int, int]]
) -> tuple[Bars, Bars]:
    bars = [
        Bar(_name(row) if kind == "defined" else "", row[kind], f"{row[kind]:,}", kind)
        for row in fields
        for kind in KINDS
    ]
    shares = [_shares(_name(row), sizes.get((row["message"], row["path"]), {})) for row in fields]
    return (
        Bars("Integer fields in each encoding", KINDS, bars, values="bytes of all values"),
        Bars(
            "Packed sizes of the values of each field",
            {"packed": KINDS["packed"]},
            shares,
            values="percent of the values",
        ),
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['message']} {row['path']}"


def _shares(name: str, sizes: Mapping[int, int]) -> Bar:
    total = sum(sizes.values())
    split = [(size, 100 * sizes[size] / total) for size in sorted(sizes)]
    return Bar(name, 100 if total else 0, f"{total:,} values", "packed", split=split)
