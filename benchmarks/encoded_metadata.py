"""Metadata responses with fixed, packed or upacked integers (docs/protocol/encodings.md)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

IMPORT_ROOT = Path(__file__).resolve().parents[1] / ".work" / "proposals" / "src"
PACKAGE = "kafka_messages_proposals"
FORMS = ("fixed", "packed", "upacked")
VERSION = 0
PARTITIONS = 100


@dataclass(frozen=True)
class Contents:
    """Integers of a response; ``base`` is added to ids, indexes and epochs."""

    name: str
    base: int
    error_code: int
    about: str


SMALL = Contents("small", 0, 0, "broker ids 1 and 2, partitions 0 to 99, leader epoch 7, error code 0")
LARGE = Contents(
    "large",
    1 << 28,
    1 << 14,
    "the same numbers plus 268,435,456 (2^28), error code 16,384 (2^14): 5 and 3 bytes under both variable encodings",
)
ALL_CONTENTS = (SMALL, LARGE)


def use_package() -> None:
    sys.path.insert(0, str(IMPORT_ROOT))


def message_class(form: str) -> Any:
    return getattr(import_module(PACKAGE), f"Metadata{form.capitalize()}")


def schema_module() -> ModuleType:
    return import_module(f"{PACKAGE}.schema")


def build(form: str, contents: Contents) -> Any:
    return _message(form, [_partition(contents, index, [1, 2], [1, 2], []) for index in range(PARTITIONS)])


def size_of_partition(form: str, replicas: int, in_sync: int, offline: int) -> int:
    """Return the bytes that one partition of small numbers adds to a message."""
    nodes = list(range(1, 64))
    partition = _partition(SMALL, 0, nodes[:replicas], nodes[:in_sync], nodes[:offline])
    return int(_message(form, [partition]).size(VERSION)) - int(_message(form, []).size(VERSION))


def formula(form: str, replicas: int, in_sync: int, offline: int) -> int:
    """Return the proposal's minimum size of a partition, plus one byte for its tag section."""
    nodes = replicas + in_sync + offline
    return (17 + 4 * nodes if form == "fixed" else 7 + nodes) + 1


def _message(form: str, partitions: list[dict[str, object]]) -> Any:
    cls = message_class(form)
    module = import_module(cls.__module__)
    make_topic = getattr(module, f"{form.capitalize()}Topic")
    make_partition = getattr(module, f"{form.capitalize()}Partition")
    made = [make_partition(**values) for values in partitions]
    topic = make_topic(error_code=0, name="benchmark-topic-000", partitions=made)
    return cls(topics=[topic])


def _partition(
    contents: Contents, index: int, replicas: list[int], in_sync: list[int], offline: list[int]
) -> dict[str, object]:
    base = contents.base
    return {
        "error_code": contents.error_code,
        "partition_index": base + index,
        "leader_id": base + 1 + index % 2,
        "leader_epoch": base + 7,
        "replica_nodes": [base + node for node in replicas],
        "isr_nodes": [base + node for node in in_sync],
        "offline_replicas": [base + node for node in offline],
    }
