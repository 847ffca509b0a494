"""Explanation of each byte of a message, as a tree of spans with text and JSON output that redacts secrets."""

from __future__ import annotations

from ..schema.spans import Span
from ..secrets._rule import has_secrets
from ._explanation import Explanation
from ._traversal import explain, explain_record, explain_request, explain_response

__all__ = ["Explanation", "Span", "explain", "explain_record", "explain_request", "explain_response", "has_secrets"]
