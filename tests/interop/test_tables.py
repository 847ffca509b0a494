"""The tests of tables from examples/cluster, run on a new cluster."""

from __future__ import annotations

import pytest

from tests.interop.make import Live
from tests.pipeline.test_cluster import *  # noqa: F403
from tests.support.cluster import Cluster


@pytest.fixture(scope="module")  # type: ignore[no-redef]  # overrides the fixture of the imported tests
def cluster(broker: Live) -> Cluster:
    return Cluster(broker.folder)
