"""Differential fuzzing of the native core against the pure code: ``python -m tests.fuzz``, or ``nox -s fuzz``."""

from tests.support import proposals

proposals.make_importable()
