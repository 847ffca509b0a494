"""Cases for columns: native extension compared with message objects, on damaged rows and columns."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest import mock

import pyarrow as pa

from tests.fuzz.cases import Difference
from tests.support.both_columns import are_same, binary, both, damaged, exact, messages

LONGEST = 4000
"""Maximum size of a row."""
ROWS = 40


def decode(rnd: random.Random, counts: Counter[str]) -> None:
    """Decode damaged rows among valid ones and nulls, with fixed, mixed or prefixed versions."""
    message = messages()[rnd.choice(list(messages()))]
    known = [row for row in message.rows if len(row[1]) <= LONGEST]
    if not known:
        return
    if rnd.random() < 0.4:
        version = rnd.choice(known)[0]
        known = [row for row in known if row[0] == version]
    share = rnd.choice((0.0, 0.3, 0.9))
    chosen = rnd.choices(known, k=rnd.randrange(1, ROWS))
    rows = [None if rnd.random() < 0.1 else damaged(rnd, data) if rnd.random() < share else data for _, data in chosen]
    versions: Any = chosen[0][0]
    sort = rnd.random()
    if sort < 0.2:
        versions = None
        rows = [
            None if row is None else version.to_bytes(2, "big") + row
            for (version, _), row in zip(chosen, rows, strict=True)
        ]
    elif len({version for version, _ in chosen}) > 1 or sort < 0.4:
        versions = pa.array([version if rnd.random() < 0.98 else rnd.choice((-1, 99, None)) for version, _ in chosen])
    array = binary(rows, before=rnd.choice((0, 0, 1, 9)))
    if rnd.random() < 0.3:
        array = exact(array.cast(pa.large_binary()))
    options = options_of(rnd)
    with mock.patch("kafka_messages.arrow._objects.MOST_ROWS", rnd.choice((2, 7, 1024))):
        got, wanted = both("decode", array, message.cls, versions, **options)
    if not isinstance(got, tuple):
        got.validate(full=options.get("validate_utf8", True))
    if not are_same(got, wanted):
        raise Difference(
            f"{message.cls.NAME} {versions} {options}: decode of {rows!r}\n  native: {got}\n  objects: {wanted}"
        )
    counts["decode"] += 1
    counts["rows decoded"] += len(rows)
    counts["rows damaged"] += round(share * len(rows))
    if options["mode"] == "PERMISSIVE":
        counts["bad rows compared"] += wanted.null_count - array.null_count if "corrupt_column" not in options else 0


def options_of(rnd: random.Random) -> dict[str, Any]:
    """Return random options of ``decode``, mostly defaults."""
    options: dict[str, Any] = {"mode": rnd.choice(("PERMISSIVE", "PERMISSIVE", "FAILFAST"))}
    choices = {
        "corrupt_column": "_corrupt",
        "unknown_tagged_fields": True,
        "trailing": "ignore",
        "trailing_column": "_rest",
        "emit_defaults": True,
        "validate_utf8": False,
    }
    return options | {name: value for name, value in choices.items() if rnd.random() < 0.3}


def encode(rnd: random.Random, counts: Counter[str]) -> None:
    """Encode columns with damaged values, also sliced, at their version or another one."""
    message = messages()[rnd.choice(list(messages()))]
    known = [row for row in message.rows if len(row[1]) <= LONGEST]
    if not known:
        return
    version = rnd.choice(known)[0]
    rows = rnd.choices([data for each, data in known if each == version], k=rnd.randrange(1, 12))
    found, _ = both("decode", binary([*rows, None] if rnd.random() < 0.5 else rows), message.cls, version)
    array = exact(found)
    if rnd.random() < 0.7:
        array = damaged_array(rnd, array)
    if rnd.random() < 0.5:
        array = array.slice(rnd.randrange(len(array) + 1))
    if rnd.random() < 0.2:
        version = rnd.choice(message.versions)
    prefix = rnd.random() < 0.2
    got, wanted = both("encode", array, message.cls, version, prefix=prefix)
    if not are_same(got, wanted):
        raise Difference(
            f"{message.cls.NAME} v{version}: encode of {array.to_pylist()!r}\n  native: {got}\n  objects: {wanted}"
        )
    counts["encode"] += 1
    counts["encode with an error compared"] += isinstance(wanted, tuple)


def damaged_array(rnd: random.Random, array: Any) -> Any:
    """Return an array with nulls, extremes or invalid text in one column."""
    if pa.types.is_struct(array.type) and array.type.num_fields and rnd.random() < 0.95:
        children = [array.field(index) for index in range(array.type.num_fields)]
        if rnd.random() < 0.1:  # nulls that keep their values
            mask = pa.array([rnd.random() < 0.3 for _ in range(len(array))], pa.bool_())
            return pa.StructArray.from_arrays(children, fields=list(array.type), mask=mask)
        place = rnd.randrange(len(children))
        children[place] = damaged_array(rnd, children[place])
        fields = [field.with_type(child.type) for field, child in zip(array.type, children, strict=True)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null() if array.null_count else None)
    if pa.types.is_list(array.type) and len(array.values) and rnd.random() < 0.7:
        values = damaged_array(rnd, array.values)
        kind = pa.list_(array.type.value_field.with_type(values.type))
        return pa.Array.from_buffers(kind, len(array), array.buffers()[:2], offset=array.offset, children=[values])
    if rnd.random() < 0.4 or pa.types.is_nested(array.type):
        return array.take(pa.array([None if rnd.random() < 0.3 else index for index in range(len(array))], pa.int64()))
    return pa.array([value_of(rnd, array.type) for _ in range(len(array))], array.type)


def value_of(rnd: random.Random, kind: Any) -> Any:
    if pa.types.is_integer(kind):
        bits = kind.bit_width - 1
        return rnd.choice((0, -1, 1, -(1 << bits), (1 << bits) - 1, min(65536, (1 << bits) - 1)))
    if pa.types.is_boolean(kind):
        return rnd.random() < 0.5
    if pa.types.is_floating(kind):
        return rnd.choice((0.0, -0.0, 1.5, float("nan")))
    text = rnd.choice(("", "x", "AAAAAAAAAAAAAAAAAAAAAA", "_-9zZaaaaaaaaaaaaaaaaa", "é" * 11, "long" * 10, "x" * 32768))
    return text if pa.types.is_string(kind) else text.encode()


CASES = ((decode, 3), (encode, 2))
"""Cases with weights relative to those of messages."""
