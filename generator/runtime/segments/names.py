"""Topic and partition of a segment, from where it lies."""

from __future__ import annotations

import re

_ID = r"[A-Za-z0-9_-]{22}"
_TIERED_FILE = re.compile(rf"\d{{20}}-{_ID}\..+", re.DOTALL)
_TIERED_FOLDER = re.compile(rf"(.+)-(\d+)-{_ID}", re.DOTALL)
_TOPIC_AND_ID = re.compile(rf"(.+)-{_ID}", re.DOTALL)
_FOLDER = re.compile(r"(.+)-(\d+)(?:\.[0-9a-f]{32}-(?:delete|future|stray))?", re.DOTALL)
_INT32 = 1 << 31


def topic_of(path: str) -> tuple[str | None, int | None]:
    """The topic and partition of a segment file; (None, None) if its folder does not say.

    Folders of brokers are ``topic-partition``, also with the endings of folders that are being moved or deleted.
    Copies in tiered storage have a segment id in the file's name: Kafka's LocalTieredStorage puts them into
    ``topic-partition-topicid``, Aiven's plugin into ``topic-topicid/partition``.
    """
    parts = path.replace("\\", "/").split("/")
    name = parts[-1]
    folder = parts[-2] if len(parts) > 1 else ""
    above = parts[-3] if len(parts) > 2 else ""
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
