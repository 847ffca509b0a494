"""Sizes of integer fields by encoding.

Encodings (proposal 002): ``fixed16``, ``fixed32``, ``fixed64`` (2, 4, 8 bytes), ``packed`` (zig-zag varint) and
``upacked`` (varint of the two's complement).
"""

from __future__ import annotations

from ._bodies import messages_of, messages_of_pairs
from ._sizes import FORMS, fields, histogram, measure, totals

__all__ = ["FORMS", "fields", "histogram", "measure", "messages_of", "messages_of_pairs", "totals"]
