"""Fixtures: a broker with traffic, third-party clients, and Spark. The tests run only if this folder is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.interop.broker import Broker
    from tests.interop.make import Live
    from tests.interop.peers import Peer
    from tests.support.cluster import Cluster

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore tests that need a broker, unless pytest is called with this folder."""
    named = any(HERE in (path, *path.parents) for path in map(_path, config.invocation_params.args))
    return None if named or collection_path in (HERE, HERE / "test_harness.py") else True


def _path(argument: object) -> Path:
    return Path(str(argument).split("::")[0]).absolute()


@pytest.fixture(scope="session")
def broker() -> Iterator[Live]:
    """Yield a broker after the traffic of java/Traffic.java."""
    from tests.interop.make import live

    with live() as made:
        yield made


@pytest.fixture(scope="session")
def quiet_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Yield a new broker without traffic, which creates topics on request."""
    from tests.interop.broker import Node
    from tests.interop.kafka import Java
    from tests.interop.make import WORK

    folder = tmp_path_factory.mktemp("quiet")
    node = Node.formatted(Java.prepare(WORK), folder, settings="auto.create.topics.enable=true\n")
    with node.running() as made:
        yield made


@pytest.fixture(scope="session")
def peer() -> Callable[[str], Peer]:
    """Return a function that builds a third-party client once, or skips the test if its toolchain is missing."""
    from tests.interop import peers

    built: dict[str, Peer] = {}

    def made(name: str) -> Peer:
        if command := peers.missing(name):
            pytest.skip(f"{name} needs the command {command}")
        if name not in built:
            built[name] = peers.peer(name)
        return built[name]

    return made


@pytest.fixture(scope="session")
def cluster(broker: Live) -> Cluster:
    """Return the broker's files, and the output of Kafka's clients and tools."""
    from tests.support.cluster import Cluster

    return Cluster(broker.folder)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from tests.interop.spark import session
    from tests.pipeline.conftest import SETTINGS

    made = session(SETTINGS)
    yield made
    made.stop()
