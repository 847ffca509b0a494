"""Coordinators of groups and transactions."""

from __future__ import annotations

import pytest
from kafka_messages import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_messages.enums import CoordinatorType
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster

from tests.support.testkit_broker import asked

KEYS = ["billing", "audit"]


@pytest.mark.parametrize("kind", [CoordinatorType.GROUP, CoordinatorType.TRANSACTION])
@pytest.mark.parametrize("version", [4, 5, 6])
def test_coordinators_of_several_keys_are_found(kind: CoordinatorType, version: int) -> None:
    with KafkaCluster(3) as cluster:
        cluster.move_coordinator("billing", 3)
        cluster.move_coordinator("audit", 1)
        ports = [int(each.rpartition(":")[2]) for each in cluster.bootstrap_servers.split(",")]
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=KEYS)
        responses = asked(cluster.bootstrap_servers, request, version=version)
    found = FindCoordinatorResponse.Coordinator
    assert responses == [
        FindCoordinatorResponse(
            coordinators=[
                found(key="billing", node_id=3, host="127.0.0.1", port=ports[2]),
                found(key="audit", node_id=1, host="127.0.0.1", port=ports[0]),
            ]
        )
    ]


@pytest.mark.parametrize("version", range(4))
def test_the_coordinator_of_one_key_is_found(version: int) -> None:
    with KafkaCluster() as cluster:
        port = int(cluster.bootstrap_servers.rpartition(":")[2])
        responses = asked(cluster.bootstrap_servers, FindCoordinatorRequest(key="billing"), version=version)
    expected = FindCoordinatorResponse(error_message="NONE", node_id=1, host="127.0.0.1", port=port)
    assert responses == [expected.downgraded(version)]


def test_there_are_no_share_groups() -> None:
    request = FindCoordinatorRequest(key_type=CoordinatorType.SHARE, coordinator_keys=["billing:topic:0"])
    with KafkaCluster() as cluster:
        [new] = asked(cluster.bootstrap_servers, request)
        [old] = asked(cluster.bootstrap_servers, FindCoordinatorRequest(key_type=2, key="billing"), version=3)
    code = ErrorCode.INVALID_REQUEST
    refused = FindCoordinatorResponse.Coordinator(key="billing:topic:0", node_id=-1, port=-1, error_code=code)
    assert new == FindCoordinatorResponse(coordinators=[refused])
    assert (old.error_code, old.node_id, old.host, old.port) == (code, -1, "", -1)


def test_a_coordinator_stays_while_its_broker_runs() -> None:
    with KafkaCluster(3) as cluster:
        state = cluster._state
        before = {key: state.coordinator(key) for key in map(str, range(50))}
        assert set(before.values()) == {1, 2, 3}
        state.nodes[2].is_running = False
        after = {key: state.coordinator(key) for key in before}
        assert {key: node for key, node in after.items() if before[key] != 2} == {
            key: node for key, node in before.items() if node != 2
        }
        assert {node for key, node in after.items() if before[key] == 2} == {1, 3}
        with pytest.raises(ValueError, match="node_id: broker 2 is not running"):
            cluster.move_coordinator("0", 2)
        state.nodes[2].is_running = True
        cluster.move_coordinator("0", 2)
        assert state.coordinator("0") == 2
        state.nodes[2].is_running = False
        assert state.coordinator("0") == after["0"]
        state.nodes[1].is_running = state.nodes[3].is_running = False
        assert state.coordinator("0") == -1
        request = FindCoordinatorRequest(coordinator_keys=["0"])
        [response] = asked(cluster.bootstrap_servers, request)
    code = ErrorCode.COORDINATOR_NOT_AVAILABLE
    refused = FindCoordinatorResponse.Coordinator(key="0", node_id=-1, port=-1, error_code=code)
    assert response == FindCoordinatorResponse(coordinators=[refused])
