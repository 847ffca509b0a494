"""Requirements of the tests in this folder."""

from __future__ import annotations

from importlib.metadata import version

import pytest


def major_minor(package: str) -> tuple[int, int]:
    first, second = version(package).split(".")[:2]
    return int(first), int(second)


def test_installed_packages_have_supported_versions() -> None:
    for package in ("pyspark", "kafka_messages_spark", "pyarrow", "numpy"):
        pytest.importorskip(package, reason=f"{package} is not installed; nox -s pipeline runs these tests")
    assert (4, 1) <= major_minor("pyspark") < (5, 0)
    assert (2, 2) <= major_minor("pandas") < (3, 0)
    assert major_minor("pyarrow") >= (18, 0)
