"""Files beside the repository that its developers have: without them a test skips, and says what is not checked."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"


def needs(path: Path, what: str, instead: str) -> pytest.MarkDecorator:
    """Skip where there is no such file; ``what`` says what is in it, ``instead`` what covers the same in the repository."""
    import pytest  # which is not there where wheels are tried

    return pytest.mark.skipif(not path.exists(), reason=reason(path, what, instead))


def reason(path: Path, what: str, instead: str) -> str:
    """What somebody who has only the repository can use: that nothing is to be done, and where the like is checked."""
    return f"{path.name} ({what}) is not part of the repository, nothing is to be done; {instead}"
