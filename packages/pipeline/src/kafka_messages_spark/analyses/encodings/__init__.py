"""Bytes of integer fields of captured messages, by encoding.

``measure`` aggregates in the workers; ``fields``, ``histogram`` and ``totals`` are tables of its result. The encodings
are those of proposal 002: ``fixed`` (2, 4 or 8 bytes), ``packed`` (zig-zag varint) and ``upacked`` (varint of the two's
complement).
"""

from __future__ import annotations

from ._bodies import messages_of, messages_of_pairs
from ._sizes import FORMS, fields, histogram, measure, totals

__all__ = ["FORMS", "fields", "histogram", "measure", "messages_of", "messages_of_pairs", "totals"]
