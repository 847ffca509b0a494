"""Differential fuzzing of the native core against the pure code: python -m tests.fuzz, which nox -s fuzz runs."""

from tests.support import proposals

proposals.make_importable()
