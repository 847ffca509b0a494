"""Read and write Kafka messages, log segments and captures with Spark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analyses.internal_topics import (
        cluster_metadata,
        consumer_offsets,
        latest,
        remote_log_metadata,
        share_group_state,
        transaction_state,
    )
    from .analyses.record_counts import count_records
    from .columns.frames import decode
    from .columns.functions import from_kafka, schema_of_kafka, to_kafka
    from .sources import register

__all__ = [
    "cluster_metadata",
    "consumer_offsets",
    "count_records",
    "decode",
    "from_kafka",
    "latest",
    "register",
    "remote_log_metadata",
    "schema_of_kafka",
    "share_group_state",
    "to_kafka",
    "transaction_state",
]

_MODULES = {"count_records": "analyses.record_counts", "decode": "columns.frames", "register": "sources"}
_MODULES |= dict.fromkeys(("from_kafka", "schema_of_kafka", "to_kafka"), "columns.functions")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'analyses.internal_topics')}"), name)
    globals()[name] = value
    return value
