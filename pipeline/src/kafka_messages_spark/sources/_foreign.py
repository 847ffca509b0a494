"""Files that look like segments only by the end of their names, such as the ``server.log`` that a broker writes."""

from __future__ import annotations

import re

from kafka_messages.segments.batch_headers import read_batch_headers

from ._files import base_name, of_reader

_OURS = re.compile(r"\d{20}[.-]")
"""Kafka's names begin with an offset: segments, their copies in tiered storage, and snapshots."""
_BEGINNING = 1 << 20
"""A batch begins in so many bytes of a segment, also behind one that is damaged; larger ones brokers seldom take."""


def is_foreign(path: str) -> bool:
    """Whether a file is no segment: it has a name that Kafka does not give, and no record batch begins in its first MiB.

    ``path`` may be a URI. Files without a byte, or with nothing but zeros there, are not foreign, and neither are those
    that cannot be opened: who reads them tells that.
    """
    if _OURS.match(base_name(path)):
        return False
    try:
        with read_batch_headers(**of_reader(path), mode="PERMISSIVE", end=_BEGINNING) as batches:
            corrupt = 0
            for batch in batches:
                if batch.column("corrupt").null_count:
                    return False
                corrupt += len(batch)
            (report,) = batches.reports
            return corrupt + report.incomplete_tail > 0
    except OSError:
        return False
