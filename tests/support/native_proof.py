"""Proof that this Python reads and writes messages, columns and records natively, for all data of Kafka's classes.

A program, because cibuildwheel runs it beside each wheel, with nothing but tests/support, the vectors and segments.
Columns and records require kafka-records and pyarrow; without pyarrow the output says that they were not run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from unittest import mock

import kafka_messages
from kafka_messages._core import native

from tests.support import vectors
from tests.support.implementations import declined, pure


def problems() -> Iterator[str]:
    """Yield a line for each part that is not native in this Python. Checks the plan of every message."""
    if kafka_messages.implementation() == "pure":
        yield f"the core is not used: {native.reason}"
        return
    for name in vectors.message_names():
        cls = vectors.message_class(name)
        ours = vectors.committed().get(name, ())
        is_native = type(cls.read).__name__ == "Reader"  # creates the plan
        with pure():
            wanted = [cls.read(vector.data, vector.version) for vector in ours]
        for vector, expected in zip(ours, wanted, strict=True):
            message, end = cls.read_from(vector.data, 0, vector.version)
            if end != len(vector.data) or not message == expected == cls.read(vector.data, vector.version):
                yield f"{vector}: read otherwise"
            if message.write(vector.version) != vector.data or message.size(vector.version) != len(vector.data):
                yield f"{vector}: written otherwise"
        missing = set(vectors.versions_of(cls)) - {vector.version for vector in ours}
        yield from (f"{name} v{version}: there is no encoding" for version in sorted(missing))
        if is_native and declined(cls):
            yield f"{name}: {declined(cls)} calls were left to the pure code"
    yield from (f"{name}: the core refused it: {error}" for name, error in native.refused.items())


def column_problems() -> Iterator[str]:
    """Yield a line for each message whose columns differ from those of objects, or were left to objects."""
    import pyarrow as pa
    from kafka_messages.arrow import decode, encode

    from tests.support.both_columns import are_same, messages

    for name, message in messages().items():
        for version in message.versions:
            rows = pa.array(message.of(version), pa.binary())
            with mock.patch("kafka_messages.arrow._objects.warn_once") as left:
                found = decode(rows, message.cls, version)
                written = encode(found, message.cls, version)
            if left.called:
                yield f"{name} v{version}: columns were left to the pure code"
            with pure():
                wanted = decode(rows, message.cls, version)
            if not are_same(found, wanted):
                yield f"{name} v{version}: decoded otherwise as columns"
            if not written.equals(rows):
                yield f"{name} v{version}: encoded otherwise from columns"


def record_problems() -> Iterator[str]:
    """Yield a line for each segment of Kafka's classes that is read otherwise than by the pure code."""
    from tests.support.segment_implementations import FUNCTIONS, both, difference, native_core
    from tests.support.segments import SEGMENTS

    if native_core() is None or not SEGMENTS:
        yield "no segments" if native_core() else "the core is not used for records"
        return
    for segment in SEGMENTS:
        for name, read in FUNCTIONS.items():
            if found := difference(*both(read, segment.read_bytes())):
                yield f"{segment.parent.name}/{segment.name}, {name}: {found}"


def main() -> int:
    has_columns = find_spec("pyarrow") is not None
    found = [*problems(), *(column_problems() if has_columns else ()), *(record_problems() if has_columns else ())]
    count = f"{sum(map(len, vectors.committed().values()))} encodings of {len(vectors.message_names())} messages"
    also = "also as columns, and Kafka's segments" if has_columns else "columns and records not run: no pyarrow"
    print("\n".join(found) or f"{count} read and written natively; {also}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
