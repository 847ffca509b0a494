"""Parser for topic, partition and directory suffix in the path of a segment file."""

from __future__ import annotations

import re

_ID = r"[A-Za-z0-9_-]{22}"
_TIERED_FILE = re.compile(rf"[0-9]{{20}}-{_ID}\..+", re.DOTALL)
_TIERED_FOLDER = re.compile(rf"(.+)-([0-9]+)-{_ID}", re.DOTALL)
_TOPIC_AND_ID = re.compile(rf"(.+)-{_ID}", re.DOTALL)
# Directory names of Kafka's UnifiedLog.
_FOLDER = re.compile(r"(.+)-([0-9]+)(?:\.[0-9a-f]{32}-(delete|future|stray))?", re.DOTALL)
_INT32 = 1 << 31


def topic_of(path: str) -> tuple[str | None, int | None]:
    """Return the topic and partition from the directory of a segment file, or (None, None).

    Brokers use ``topic-partition``, with a suffix during a move or deletion. Kafka's LocalTieredStorage uses
    ``topic-partition-topicid``, Aiven's plugin ``topic-topicid/partition``.
    """
    above, folder, name = _parts(path)
    if _TIERED_FILE.fullmatch(name):
        if (found := _TIERED_FOLDER.fullmatch(folder)) and int(found[2]) < _INT32:
            return found[1], int(found[2])
        if (
            folder.isdecimal()
            and folder.isascii()
            and int(folder) < _INT32
            and (found := _TOPIC_AND_ID.fullmatch(above))
        ):
            return found[1], int(folder)
    if (found := _FOLDER.fullmatch(folder)) and int(found[2]) < _INT32:
        return found[1], int(found[2])
    return None, None


def ending_of(path: str) -> str | None:
    """Return the directory suffix ``delete``, ``future`` or ``stray``, or None (Kafka's LogManager)."""
    found = _FOLDER.fullmatch(_parts(path)[1])
    return found[3] if found else None


def _parts(path: str) -> tuple[str, str, str]:
    above, folder, name = ["", "", *path.replace("\\", "/").split("/")][-3:]
    return above, folder, name
