"""What holds for all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from tests.support import proposals

proposals.make_importable()
settings.register_profile("tests", deadline=None)  # how long a busy machine takes says nothing about the code
settings.load_profile("tests")


def pytest_sessionstart() -> None:
    """End a run that shall be by the native core and would be a pure one: its tests would pass and prove nothing."""
    if os.environ.get("TESTS_NATIVE") != "1":
        return
    from kafka_messages._core.columns import native_columns
    from kafka_messages._core.native import rendering

    if rendering() != "native" or native_columns() is None:
        raise pytest.UsageError("TESTS_NATIVE is 1, but kafka-messages-native is not installed, or switched off")
