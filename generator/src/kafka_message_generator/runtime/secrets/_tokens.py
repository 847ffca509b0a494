"""Detection of raw SASL tokens."""

from __future__ import annotations

# A PLAIN token has two zero bytes, other text mechanisms none, a request header at least three.
_MOST_ZEROS = 2


def may_be_token(data: bytes) -> bool:
    """Return whether bytes that no known request explains may be a SASL token."""
    return data.count(0) <= _MOST_ZEROS
