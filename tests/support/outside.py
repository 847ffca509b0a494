"""Optional files outside the repository; tests that need them are skipped with a reason."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"


def needs(path: Path, what: str, instead: str) -> pytest.MarkDecorator:
    """Skip a test if a file is missing; ``what`` describes the file, ``instead`` the coverage in the repository."""
    import pytest  # pytest is not installed when wheels are tried out

    return pytest.mark.skipif(not path.exists(), reason=reason(path, what, instead))


def reason(path: Path, what: str, instead: str) -> str:
    """Return the reason for the skip, with the equivalent coverage in the repository."""
    return f"{path.name} ({what}) is not in the repository, which is expected; {instead}"
