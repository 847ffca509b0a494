"""Conversion of Arrow arrays of encoded messages to struct columns and back (extra ``arrow``)."""

from __future__ import annotations

from .._core.optional import check_extra

try:
    from ._redacted import redacted
    from ._rows import EncodeRowError, RowError
    from .columns import decode, encode, schema
except ModuleNotFoundError as error:
    check_extra(error, __name__, "arrow")
    raise

__all__ = ["EncodeRowError", "RowError", "decode", "encode", "redacted", "schema"]
