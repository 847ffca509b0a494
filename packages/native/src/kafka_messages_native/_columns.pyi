from typing import Any, Final, TypeAlias

from typing_extensions import Buffer

FORMAT: Final[int]
"""Supported version of the plan text."""

Capsules: TypeAlias = tuple[object, object]
"""An ArrowSchema and an ArrowArray, as returned by ``__arrow_c_array__``."""

def plan(text: str, has_unknown: bool, /) -> Any: ...
def decode(
    plan: Any,
    schema: object,
    array: object,
    version: int | Capsules | None,
    options: int,
    trailing: str | None,
    corrupt: str | None,
    size: int = ...,
    /,
) -> Capsules | int | None: ...
def encode(
    plan: Any, schema: object, array: object, version: int, prefix: bool, buffers: list[Any] = ..., /
) -> Capsules | int | None: ...
def address(array: object, /) -> int: ...
def fail_allocation(number: int, /) -> None: ...

BATCH_FORMAT: Final[dict[str, int]]
"""Constants of the record batch format, which kafka_records compares with its own."""
HEADER_FIELDS: Final[tuple[str, ...]]
"""Names of the columns that ``read_headers`` writes, in order."""

def follow_batches(
    log: Buffer,
    at: int,
    last: int,
    size: int,
    shortest: int,
    longest: int,
    is_summed: bool,
    starts: Buffer,
    faults: Buffer,
    agrees: Buffer,
    /,
) -> tuple[int, int, int]: ...
def read_headers(log: Buffer, starts: Buffer, out: Buffer, /) -> None: ...

_Binary = tuple[Buffer, Buffer, Buffer]
"""Offsets, validity bits and bytes."""

def read_record_columns(
    data: Buffer,
    sections: Buffer,
    rows: int,
    offsets: Buffer | None,
    timestamps: Buffer | None,
    key: _Binary | None,
    value: _Binary | None,
    headers: tuple[int, Buffer, Buffer, _Binary, _Binary] | None,
    /,
) -> tuple[int, ...] | None: ...
def crc32c(data: Buffer, /) -> int: ...
def crc32c_portable(data: Buffer, /) -> int: ...
def xxh32(data: Buffer, /) -> int: ...
