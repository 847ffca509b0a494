"""Fixtures for the tests of the generator."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator.render.package import PackageRequest
from tests.support.building import Workshop
from tests.support.output import generate, request_of


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Return a package to which all tests add their messages."""
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def generated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> PackageRequest:
    """Return the request of a generated package; discard the printed output."""
    request = request_of(tmp_path)
    assert generate(request) == 0
    capsys.readouterr()
    return request
