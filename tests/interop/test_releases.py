"""New segments of older brokers, compared with what a consumer received; tests/pipeline/data/releases has a copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kafka_records.segments.names import topic_of
from kafka_records.segments.reader import read_segments

from tests.interop.releases import RELEASES, Release, make

DATA = Path(__file__).parents[1] / "pipeline" / "data" / "releases"


@pytest.mark.parametrize("release", RELEASES, ids=lambda each: each.name)
def test_segments_have_the_records_that_the_consumer_received(release: Release, tmp_path: Path) -> None:
    make(release, tmp_path / "made")
    expected = json.loads((tmp_path / "made" / "expected.json").read_text())
    files = sorted((tmp_path / "made" / "logs").rglob("*.log"))
    data = [str(path) for path in files if not str(topic_of(str(path))[0]).startswith("__")]
    columns = ["topic", "partition", "offset", "key", "value"]
    found = [tuple(row.values()) for batch in read_segments(data, columns=columns) for row in batch.to_pylist()]
    consumed = [
        (topic, partition, offset, key and key.encode(), value and value.encode())
        for topic, partition, offset, _, key, value in expected["records"]
    ]
    assert sorted(found, key=repr) == sorted(consumed, key=repr)
    committed = (DATA / release.name / "logs").rglob("*.log")
    assert {path.parent.name for path in files} == {path.parent.name for path in committed}
