"""Tokens of SASL, which stand on a connection without a header after a SaslHandshake of version 0."""

from __future__ import annotations

_MOST_ZEROS = 2
"""Zeros in a token: PLAIN has two, other mechanisms that send text have none. Each header has three or more."""


def may_be_token(data: bytes) -> bool:
    """Whether bytes that begin as no known request may be a token of SASL."""
    return data.count(0) <= _MOST_ZEROS
