"""What cannot be announced, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from kafka_messages.connection import announce
from kafka_messages.protocol import ApiKey, Versions


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"versions": (0, 1)}, TypeError, "versions must be a mapping to Versions, not (0, 1)"),
        (
            {"versions": {"Metadata": (0, 1)}},
            TypeError,
            "versions['Metadata'] must be Versions(lowest, highest), not (0, 1)",
        ),
        (
            {"versions": {"Metadata": Versions(0, -1)}},
            ValueError,
            "versions['Metadata'] is Versions(lowest=0, highest=-1), in which there is no version to announce",
        ),
        (
            {"versions": {ApiKey.METADATA: Versions(-1, 3)}},
            ValueError,
            "versions[<ApiKey.METADATA: 3>] is Versions(lowest=-1, highest=3), in which there is no version to announce",
        ),
        (
            {"supported_features": {"x": 3}},
            TypeError,
            "supported_features['x'] must be Versions(lowest, highest), not 3",
        ),
        (
            {"finalized_features": ["x"]},
            TypeError,
            "finalized_features must be a mapping to Versions, not ['x']",
        ),
        (
            {"release": "2.8", "allow_unstable": True},
            ValueError,
            "allow_unstable is for what this package has; a release announces stable versions only",
        ),
        ({"release": 2.8}, TypeError, "a release is a text, such as '2.8', not 2.8"),
    ],
)
def test_what_cannot_be_announced(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    """An AttributeError of some tuple said nothing; an empty range was announced, and a word that changes nothing taken."""
    with pytest.raises(error) as caught:
        announce(**arguments)
    assert str(caught.value) == text
