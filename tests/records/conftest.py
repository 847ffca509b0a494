"""Fixtures of the tests of records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka_records import _native, compression, crc


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a test as if the native core were not installed, and without the checksums and hashes that it had chosen."""
    caches = (compression.xxh32, crc.checksum, crc.installed)
    monkeypatch.setattr(_native, "core", None)
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()
