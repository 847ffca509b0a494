"""Files that are no part of a log: such as ``server.log``, a segment by the end of its name alone, and what Kafka deletes."""

from __future__ import annotations

import re

from kafka_messages.segments.batch_headers import read_batch_headers

from ._files import base_name, reader_arguments

_OURS = re.compile(r"[0-9]{20}[.-]")
"""Kafka's names begin with an offset: segments, their copies in tiered storage, and snapshots."""
_BEGINNING = 1 << 20
"""A batch begins in so many bytes of a segment, also behind one that is damaged; larger ones brokers seldom take."""


NOT_A_SEGMENT = "not a segment"
_GONE = {"delete": "a partition that is being deleted", "stray": "a replica that its broker should not have"}


def skip_reason(path: str, ending: str | None) -> str | None:
    """Why a file is no part of a log that is there, or None. ``ending`` is that of its folder, unless it was named.

    A folder that ends in ``future`` has the copy of a partition that is there, and counts as any copy.
    """
    return _GONE.get(ending or "") or (NOT_A_SEGMENT if is_foreign(path) else None)


def is_foreign(path: str) -> bool:
    """Whether a file is no segment: it has a name that Kafka does not give, and no record batch begins in its first MiB.

    ``path`` may be a URI. Files without a byte, or with nothing but zeros there, are not foreign, and neither are those
    that cannot be opened: who reads them tells that.
    """
    if _OURS.match(base_name(path)):
        return False
    try:
        with read_batch_headers(**reader_arguments(path), mode="PERMISSIVE", end=_BEGINNING) as batches:
            corrupt = 0
            for batch in batches:
                if batch.column("corrupt").null_count:
                    return False
                corrupt += len(batch)
            (report,) = batches.reports
            return corrupt + report.incomplete_tail > 0
    except OSError:
        return False
