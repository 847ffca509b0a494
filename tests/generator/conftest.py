"""What the tests of the generator share."""

from __future__ import annotations

import pytest

from tests.support.building import Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """One package for all the small messages of a run."""
    return Workshop(tmp_path_factory.mktemp("workshop"))
