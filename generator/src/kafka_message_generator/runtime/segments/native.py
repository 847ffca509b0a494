"""The native core's part on record batches, where it is installed, switched on, and goes by the same table of the format."""

from __future__ import annotations

from functools import cache
from struct import calcsize
from typing import Any

from .._core.columns import native_columns
from ..batches import format

_FIELDS = (
    "BASE_OFFSET",
    "LENGTH",
    "LEADER_EPOCH",
    "MAGIC",
    "CRC",
    "ATTRIBUTES",
    "LAST_OFFSET_DELTA",
    "BASE_TIMESTAMP",
    "MAX_TIMESTAMP",
    "PRODUCER_ID",
    "PRODUCER_EPOCH",
    "BASE_SEQUENCE",
    "COUNT",
)
_KINDS = format.BATCH.format.removeprefix(">")
PLACES = {name: calcsize(">" + _KINDS[:number]) for number, name in enumerate(_FIELDS)}
"""Where the fields of a header of format 2 are, by the order of their names in ``format.BATCH``."""


def table() -> dict[str, int]:
    """The numbers of the table of the format that the core has, too."""
    return {f"{name}_AT": place for name, place in PLACES.items() if place} | {
        "OVERHEAD": format.OVERHEAD,
        "SMALLEST_0": format.SMALLEST[0],
        "SMALLEST_1": format.SMALLEST[1],
        "HEADER": format.SMALLEST[2],
        "SMALLEST_RECORD": format.SMALLEST_RECORD,
        "SUMMED_FROM": format.SUMMED_FROM[2],
        "MESSAGE_ATTRIBUTES_AT": calcsize(format.ENTRY.format[:-1]),
        "MESSAGE_TIMESTAMP_AT": format.TIMESTAMP_AT,
        "COMPRESSION": format.COMPRESSION,
        "CODECS": len(format.CODECS),
        "FAULTS": len(format.FAULTS),
    }


def native_batches() -> Any:
    """The extension that reads record batches; None where the code here has to do it."""
    found = native_columns()
    return found if found is not None and _fits(found) else None


@cache
def _fits(found: Any) -> bool:
    return bool(getattr(found, "BATCH_FORMAT", None) == table())
