"""Proof that this Python encodes and decodes messages natively, for every vector of Kafka's classes.

A program, because cibuildwheel runs it beside each wheel, with nothing but tests/support and the vectors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import kafka_messages
from kafka_messages._core import native

from tests.support import vectors
from tests.support.implementations import declined, pure


def problems() -> Iterator[str]:
    """Yield a line for each part that is not native in this Python."""
    if kafka_messages.implementation() == "pure":
        yield f"the core is not used: {native.reason}"
        return
    for name in vectors.message_names():
        cls = vectors.message_class(name)
        ours = vectors.committed()[name]
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
        if name not in native.refused and declined(cls):
            yield f"{name}: {declined(cls)} calls were left to the pure code"
    yield from (f"{name}: the core refused it: {error}" for name, error in native.refused.items())


def main() -> int:
    found = list(problems())
    count = sum(map(len, vectors.committed().values()))
    print("\n".join(found) or f"{count} encodings of {len(vectors.message_names())} messages read and written natively")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
