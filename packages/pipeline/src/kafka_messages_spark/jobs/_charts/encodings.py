"""Bytes of integer fields in each encoding, and how many bytes their values need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_messages_spark._charts.model import Bar, Bars, Look

KINDS: Mapping[str, Look] = {"defined": "calm", "packed": "good", "upacked": "notice"}


def pictures(
    fields: Sequence[Mapping[str, Any]], sizes: Mapping[tuple[str, str], Mapping[int, int]]
) -> tuple[Bars, Bars]:
    """Return the bytes of each field in each encoding, and the sizes of its values as ``packed``.

    ``sizes`` are values by bytes, for the message and path of a field.
    """
    bars = [
        Bar(_name(row) if kind == "defined" else "", row[kind], f"{row[kind]:,}", kind)
        for row in fields
        for kind in KINDS
    ]
    shares = [_shares(_name(row), sizes.get((row["message"], row["path"]), {})) for row in fields]
    return (
        Bars("Integer fields in each encoding", KINDS, bars, values="bytes of all values"),
        Bars(
            "Bytes that the values of each field need when packed",
            {"packed": KINDS["packed"]},
            shares,
            values="percent of the values",
        ),
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['message']} {row['path']}"


def _shares(name: str, sizes: Mapping[int, int]) -> Bar:
    """Return a bar of full length that is divided by the bytes of values."""
    total = sum(sizes.values())
    split = [(size, 100 * sizes[size] / total) for size in sorted(sizes)]
    return Bar(name, 100 if total else 0, f"{total:,} values", "packed", split=split)
