"""A broker with its traffic, made once, and a Spark that has the Kafka connector. Collected only if this folder is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.interop.make import Live
    from tests.support.cluster import Cluster

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A broker is only started for those who ask: what needs one is not part of a run that does not name this folder."""
    named = any(HERE in (path, *path.parents) for path in map(_path, config.invocation_params.args))
    return None if named or collection_path in (HERE, HERE / "test_harness.py") else True


def _path(argument: object) -> Path:
    return Path(str(argument).split("::")[0]).absolute()


@pytest.fixture(scope="session")
def broker() -> Iterator[Live]:
    """A broker that had a day's traffic and is at rest."""
    from tests.interop.make import live

    with live() as made:
        yield made


@pytest.fixture(scope="session")
def cluster(broker: Live) -> Cluster:
    """Its files, and what Kafka's clients and tools say."""
    from tests.support.cluster import Cluster

    return Cluster(broker.folder)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark classic with the Kafka connector."""
    from tests.interop.spark import session
    from tests.pipeline.conftest import SETTINGS

    made = session(SETTINGS)
    yield made
    made.stop()
