"""Optional files outside the repository; tests that need them are skipped with a reason."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"


def needs(path: Path, what: str, instead: str) -> pytest.MarkDecorator:
    """Skip if a file is missing; ``what`` describes it, ``instead`` names the coverage in the repository."""
    import pytest  # not installed in trials of wheels

    return pytest.mark.skipif(not path.exists(), reason=reason(path, what, instead))


def reason(path: Path, what: str, instead: str) -> str:
    """Return the skip reason, which names the equivalent coverage in the repository."""
    return f"{path.name} ({what}) is not part of the repository, nothing is to be done; {instead}"
