"""A disk without space for new files."""

from __future__ import annotations

import errno
import os

import pytest


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file that is written beside its target fail to replace it."""

    def fail(*names: str | os.PathLike[str]) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *names)

    monkeypatch.setattr(os, "replace", fail)
