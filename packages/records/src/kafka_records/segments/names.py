"""Topic and partition of a segment, from where it lies, and whether it is one that Kafka removes or moves."""

from __future__ import annotations

import re

_ID = r"[A-Za-z0-9_-]{22}"
_TIERED_FILE = re.compile(rf"[0-9]{{20}}-{_ID}\..+", re.DOTALL)
_TIERED_FOLDER = re.compile(rf"(.+)-([0-9]+)-{_ID}", re.DOTALL)
_TOPIC_AND_ID = re.compile(rf"(.+)-{_ID}", re.DOTALL)
_FOLDER = re.compile(r"(.+)-([0-9]+)(?:\.[0-9a-f]{32}-(delete|future|stray))?", re.DOTALL)
"""Kafka's UnifiedLog: ``topic-partition``, and with an id while a partition is removed, moved, or nobody's."""
_INT32 = 1 << 31


def topic_of(path: str) -> tuple[str | None, int | None]:
    """The topic and partition of a segment file; (None, None) if its folder does not say.

    Folders of brokers are ``topic-partition``, also with the endings of folders that are being moved or deleted.
    Copies in tiered storage have a segment id in the file's name: Kafka's LocalTieredStorage puts them into
    ``topic-partition-topicid``, Aiven's plugin into ``topic-topicid/partition``.
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
    """``delete``, ``future`` or ``stray``, where the folder of a segment file has such an ending; else None.

    Kafka's LogManager gives them to a partition that it is about to delete, to the new place of one that is moved to
    another log directory, and to a replica that its broker should not have.
    """
    found = _FOLDER.fullmatch(_parts(path)[1])
    return found[3] if found else None


def _parts(path: str) -> tuple[str, str, str]:
    """The names of a file, of its folder, and of the one above; empty where there is none."""
    above, folder, name = ["", "", *path.replace("\\", "/").split("/")][-3:]
    return above, folder, name
