"""Columns: whole Arrow arrays of encoded messages, and Kafka's log segments, as Arrow. Needs the extra ``arrow``."""

from __future__ import annotations

from .columns import RowError, decode, schema

__all__ = ["RowError", "decode", "schema"]
