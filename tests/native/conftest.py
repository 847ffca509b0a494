"""Skip the tests of the native core if it is missing or disabled."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from kafka_messages import implementation

HERE = Path(__file__).parent
NOT_INSTALLED = "kafka-messages-native is not installed; run pip install ./packages/native, which needs a C compiler"
REASON = "KAFKA_MESSAGES_NATIVE is 0" if find_spec("kafka_messages_native") else NOT_INSTALLED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip all tests of this folder, with a reason, in a pure Python run."""
    if implementation() == "pure":
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(pytest.mark.skip(reason=REASON))
