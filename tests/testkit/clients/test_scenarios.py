"""What applications observe in each scenario, as docs/testkit-clients.md says: on the cluster and on a real broker."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from kafka_messages_testkit import KafkaCluster, KafkaProxy

from tests.support.pages import ROOT
from tests.support.testkit_clients import NAMES, Client, UnsupportedByClientError
from tests.support.testkit_stage import Stage
from tests.testkit.clients.scenarios import BROKERS, RELEASES, SCENARIOS

if TYPE_CHECKING:
    from tests.interop.broker import Broker

pytestmark = [pytest.mark.nightly, pytest.mark.parametrize("name", NAMES)]
TIMES = dict.fromkeys(NAMES, int(os.environ.get("TESTS_REPEATS", "20"))) | {"java": 3, "franz-go": 3}
"""How often a scenario runs with a client."""
ONLY_CLUSTER = {*BROKERS, *RELEASES}
"""Scenarios that a proxy cannot cause."""
Clients = Callable[[str], Client]


def table() -> dict[str, dict[str, str]]:
    """Return the cells of the page, by scenario and client."""
    page = (ROOT / "docs" / "testkit-clients.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = [re.split(r" \d", each)[0] for each in rows[0]]
    return {re.sub(r"\W", "_", row[0]): dict(zip(heads, row, strict=True)) for row in rows[2:]}


EXPECTED = table()


def observed(stage: Stage, scenario: str, client: Client) -> str:
    try:
        return ", ".join(SCENARIOS[scenario](stage, client))
    except UnsupportedByClientError:
        return "not supported"
    finally:
        client.close_handles()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_page_says_what_happens_on_the_cluster(name: str, scenario: str, client: Clients) -> None:
    for _ in range(TIMES[name]):
        with KafkaCluster(BROKERS.get(scenario, 1), release=RELEASES.get(scenario)) as cluster:
            stage = Stage(cluster, cluster.bootstrap_servers)
            assert observed(stage, scenario, client(name)) == EXPECTED[scenario][name]


@pytest.mark.parametrize("scenario", sorted(SCENARIOS.keys() - ONLY_CLUSTER))
def test_the_same_happens_on_a_real_broker(name: str, scenario: str, client: Clients, real_broker: Broker) -> None:
    with KafkaProxy(real_broker.bootstrap) as proxy:
        stage = Stage(proxy, real_broker.bootstrap)
        assert observed(stage, scenario, client(name)) == EXPECTED[scenario][name]


def test_the_page_has_each_scenario(name: str) -> None:
    assert list(EXPECTED) == list(SCENARIOS)
    assert all(row[name] for row in EXPECTED.values())
