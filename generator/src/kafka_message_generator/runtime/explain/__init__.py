"""Explanation of each byte of a message, as a tree of spans with text and JSON output.

* ``explain`` reads a message, ``explain_request`` and ``explain_response`` also its header, and ``explain_record`` the
  prefix of records of internal logs.
* The leaves of the tree cover all bytes, also of damaged messages.
* ``Explanation.text()`` and ``Explanation.rows()`` redact secrets by default.
"""

from __future__ import annotations

from ..schema.spans import Span
from ..secrets._rule import has_secrets
from ._explanation import Explanation
from ._walks import explain, explain_record, explain_request, explain_response

__all__ = ["Explanation", "Span", "explain", "explain_record", "explain_request", "explain_response", "has_secrets"]
