"""The tests that read the files in examples/cluster without Spark, run on a new cluster."""

from __future__ import annotations

import pytest

from tests.generated.test_real_traffic import *  # noqa: F403
from tests.interop.make import Live
from tests.records.test_cluster_records import *  # noqa: F403
from tests.support.cluster import Cluster


@pytest.fixture(scope="module")  # type: ignore[no-redef]  # overrides the fixture of the imported tests
def cluster(broker: Live) -> Cluster:
    return Cluster(broker.folder)
