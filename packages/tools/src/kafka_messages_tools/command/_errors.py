"""Exceptions of the command, by exit status."""

from __future__ import annotations


class UsageError(Exception):
    """Invalid command line; exit status 2."""


class DumpError(UsageError):
    """Hex dump with missing or ambiguous bytes; exit status 2."""


class NotFoundError(UsageError):
    """Unknown message, version, field, error code or API; exit status 2."""


class InputError(ValueError):
    """Input that cannot be decoded or encoded; exit status 1."""
