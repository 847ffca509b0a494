"""Differential fuzzing of the native core against the pure code: ``python -m tests.fuzz``, or ``nox -s fuzz``."""

from tests.support.proposals import PROPOSALS

PROPOSALS.install()
