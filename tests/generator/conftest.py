"""Fixtures for the tests of the generator."""

from __future__ import annotations

import pytest

from tests.support.building import Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Return one package to which tests add their messages."""
    return Workshop(tmp_path_factory.mktemp("workshop"))
