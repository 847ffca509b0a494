"""A new cluster's files without Spark: the tests of the committed ones."""

from __future__ import annotations

import pytest

from tests.interop.make import Live
from tests.package.test_real_traffic import *  # noqa: F403
from tests.records.test_cluster_records import *  # noqa: F403
from tests.support.cluster import Cluster


@pytest.fixture(scope="module")
def cluster(broker: Live) -> Cluster:
    """The new ones, instead of those that the tests are about elsewhere."""
    return Cluster(broker.folder)
