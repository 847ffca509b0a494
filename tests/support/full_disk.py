"""A disk without space for new files, or whose files cannot be renamed."""

from __future__ import annotations

import errno
import os

import pytest


def fill_disk(monkeypatch: pytest.MonkeyPatch, error: int = errno.ENOSPC) -> None:
    """Make every replacement of a file fail with this error of the operating system."""

    def fail(*names: str | os.PathLike[str]) -> None:
        raise OSError(error, os.strerror(error), *names)

    monkeypatch.setattr(os, "replace", fail)
