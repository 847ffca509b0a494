"""The column codec against the object codec on random messages, all versions in one array.

Random messages have what the vectors lack: unknown tagged fields, repeated keys, long values, and fields of the proposals.
"""

from __future__ import annotations

import random

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from tests.support.columns import expected, with_maps
from tests.support.random_messages import PACKAGES, Package, messages, versions_of

CASES = [(package, name) for package in map(Package, PACKAGES) for name in package.message_names]


@pytest.mark.parametrize(("package", "name"), CASES, ids=[f"{package.name}-{name}" for package, name in CASES])
def test_random_batches_of_mixed_versions_round_trip(package: Package, name: str) -> None:
    cls, arrow = package.message(name), package.module("arrow")
    descriptor = package.descriptor_of(cls)
    rows = [(version, each.write(version)) for version in versions_of(cls) for each in messages(cls, version, seed=7)]
    random.Random(name).shuffle(rows)
    versions, data = [version for version, _ in rows], [data for _, data in rows]

    columns = arrow.decode(pa.array(data, pa.binary()), cls, pa.array(versions), unknown_tagged_fields=True)

    columns.validate(full=True)
    wanted = [
        expected(descriptor, descriptor.fields, cls.read(each, version), version, unknown=True)
        for version, each in rows
    ]
    assert repr(with_maps(columns.to_pylist())) == repr(wanted)  # repr, because NaN differs from itself
    for version in sorted(set(versions)):
        of_version = pa.array([each == version for each in versions])
        again = arrow.encode(columns.filter(of_version), cls, version)
        assert again.to_pylist() == [each for number, each in rows if number == version]


@pytest.mark.parametrize("name", ["InterleavedTags", "IntegerEncodings"])
@pytest.mark.parametrize("last", [b"\x02", b"\x7f"])
def test_varints_above_64_bits_are_rejected_as_in_read(name: str, last: bytes) -> None:
    package = Package("kafka_messages_proposals")
    cls, arrow = package.message(name), package.module("arrow")
    refused = package.module("errors").KafkaMessageError
    for version in versions_of(cls):
        data = next(messages(cls, version, seed=3)).write(version)
        rows = [
            data[:at] + b"\xff" * 9 + last + data[at + skipped :]
            for at in range(0, len(data), 7)
            for skipped in (0, 10)
        ]
        wanted = []
        for row in rows:
            try:
                cls.read(row, version)
                wanted.append(True)
            except refused:
                wanted.append(False)
        few = [arrow.decode(pa.array([row]), cls, version, mode="PERMISSIVE").is_valid()[0].as_py() for row in rows]
        assert few == wanted
        assert arrow.decode(pa.array(rows), cls, version, mode="PERMISSIVE").is_valid().to_pylist() == wanted
