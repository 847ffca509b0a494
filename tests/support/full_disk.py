"""A disk without space for new files, or whose files cannot be renamed."""

from __future__ import annotations

import errno
import os

import pytest


def fill_disk(monkeypatch: pytest.MonkeyPatch, error: int = errno.ENOSPC) -> None:
    """Let every file that is written beside its target fail to replace it with an error of the system."""

    def fail(*names: str | os.PathLike[str]) -> None:
        raise OSError(error, os.strerror(error), *names)

    monkeypatch.setattr(os, "replace", fail)
