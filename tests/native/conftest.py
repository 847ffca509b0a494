"""Tests of the native core: skipped where it is not installed; each begins and ends as the interpreter was found."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from kafka_messages._core.native import SWITCH, rendering, set_rendering

HERE = Path(__file__).parent
IS_INSTALLED = find_spec("kafka_messages_native") is not None
REASON = "kafka-messages-native is not installed; pip install ./packages/native does it where there is a C compiler"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say of every test here why it does not run; the pure code has the tests of all other folders."""
    if not IS_INSTALLED:
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(pytest.mark.skip(reason=REASON))


@pytest.fixture(autouse=True, scope="module")
def underived() -> None:
    """Without the classes that tests before derived from messages: while they are there, the core does not stand alone."""
    gc.collect()


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The native rendering, also where the whole run is pure; programs that a test starts find it so too."""
    monkeypatch.delenv(SWITCH, raising=False)
    before = rendering()
    if IS_INSTALLED:
        set_rendering("native")
    yield
    set_rendering(before)
