"""What each byte of a message is: a tree of spans, as text for people and as JSON for programs.

* ``explain(data, MetadataResponse, 13)`` is about one message; ``explain_request`` and ``explain_response`` read the
  headers too, ``explain_record`` what stands before records of internal logs.
* The leaves of the tree tile the bytes, also of damaged ones: up to the fault, the fault, and the rest.
* ``Explanation.text()`` and ``Explanation.rows()`` hide what is secret unless they are told to show it.
"""

from __future__ import annotations

from ..schema.spans import Span
from ..secrets._rule import has_secrets
from ._explanation import Explanation
from ._walks import explain, explain_record, explain_request, explain_response

__all__ = ["Explanation", "Span", "explain", "explain_record", "explain_request", "explain_response", "has_secrets"]
