"""Detection of files that are not part of a log, such as ``server.log``."""

from __future__ import annotations

import re

from kafka_records.segments.batch_headers import read_batch_headers

from ._files import base_name, reader_arguments

# Names of segments, of their copies in tiered storage, and of snapshots start with an offset.
_OURS = re.compile(r"[0-9]{20}[.-]")
# Bytes in which the first batch is searched; larger batches are rare.
_BEGINNING = 1 << 20


NOT_A_SEGMENT = "not a segment"
_GONE = {"delete": "a partition that is being deleted", "stray": "a stray replica"}


def skip_reason(path: str, ending: str | None) -> str | None:
    """Return the reason to skip a file, or None; ``ending`` is the suffix of its folder, such as ``delete``."""
    return _GONE.get(ending or "") or (NOT_A_SEGMENT if is_foreign(path) else None)


def is_foreign(path: str) -> bool:
    """Return whether a file has neither a segment's name nor a batch in its first MiB.

    Empty, zero-filled and unreadable files are not foreign: the reader handles them.
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
