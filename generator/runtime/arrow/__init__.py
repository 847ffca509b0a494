"""Columns: whole Arrow arrays of encoded messages as structs, and back. Needs the extra ``arrow``."""

from __future__ import annotations

from ._hidden import hidden
from ._rows import EncodeRowError, RowError
from .columns import decode, encode, schema

__all__ = ["EncodeRowError", "RowError", "decode", "encode", "hidden", "schema"]
