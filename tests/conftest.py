"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tests", deadline=None)  # how long a busy machine takes says nothing about the code
settings.load_profile("tests")
