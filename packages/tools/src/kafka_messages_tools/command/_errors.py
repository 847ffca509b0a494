"""Errors that end a command line, by exit status."""

from __future__ import annotations


class UsageError(Exception):
    """The command line is wrong; the exit status is 2."""


class NotFoundError(UsageError):
    """A message, version, field, error code or API does not exist; the exit status is 2."""


class InputError(ValueError):
    """The input cannot be read or written; the exit status is 1."""
