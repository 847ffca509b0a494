"""What is older than its first definition: until then Kafka's code wrote it by hand, and no definition says so."""

from __future__ import annotations

import json
from pathlib import Path

from kafka_message_generator.history.store import HistoryError
from kafka_message_generator.spec.versions import Versions

TABLE = "older.json"


def read_older(root: Path) -> dict[str, Versions]:
    """Versions by the names of messages, from the table beside a history; none without it. Raises HistoryError."""
    path = root / TABLE
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8")).items()
        return {name: Versions.parse(versions) for name, (versions, _) in rows}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise HistoryError(f"{path}: is not a table of versions with their sources: {error!r}") from None
