"""Golden modules of four definitions in specs/proposals."""

from __future__ import annotations

from pathlib import Path

import kafka_messages_proposals
import pytest

from tests.support.goldens import matches_golden

GOLDENS = Path(__file__).parent / "goldens"
MESSAGES = Path(kafka_messages_proposals.__file__).parent / "messages"


@pytest.mark.parametrize("name", ["interleaved_tags", "integer_encodings", "nullable_assignment", "foo_response"])
def test_generated_module_matches_the_golden_file(name: str) -> None:
    matches_golden(GOLDENS / f"{name}.py.txt", (MESSAGES / f"{name}.py").read_text(encoding="utf-8"))
