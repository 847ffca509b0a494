"""``replace_entities``: other ids and names for brokers, racks and clusters, in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    CreateTopicsRequest,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    Message,
    MetadataRequest,
    MetadataResponse,
    Response,
)
from kafka_messages._core import collection
from kafka_messages.connection import (
    ClientConnection,
    EntityType,
    ProxyConnection,
    RequestForwarded,
    RequestReceived,
    ResponseForwarded,
    ServerConnection,
    announce,
    entities,
    replace_entities,
)
from kafka_messages.enums import ConfigResourceType, CoordinatorType, ErrorCode
from kafka_messages.errors import EncodeError

from tests.support.lines import recording
from tests.support.vectors import committed, message_names

Maps = Mapping[EntityType, Mapping[int, int] | Mapping[str, str]]
MAPS: Maps = {"brokerId": {1: 2, 2: 1, 3: 103}, "rack": {"a": "z"}, "clusterId": {"prod": "edge"}}
REPLACED: tuple[EntityType, ...] = ("brokerId", "rack", "clusterId")
Broker = MetadataResponse.MetadataResponseBroker


def metadata(ids: list[int], racks: list[str | None], cluster: str | None, controller: int) -> MetadataResponse:
    partition = MetadataResponse.MetadataResponsePartition(
        leader_id=ids[0], replica_nodes=[*ids, -1], isr_nodes=ids[:1], offline_replicas=ids[1:]
    )
    return MetadataResponse(
        brokers=[
            Broker(node_id=number, host=f"h{at}", port=9092, rack=rack)
            for at, (number, rack) in enumerate(zip(ids, racks, strict=True))
        ],
        cluster_id=cluster,
        controller_id=controller,
        topics=[MetadataResponse.MetadataResponseTopic(name="prod", partitions=[partition])],
    )


def test_values_are_replaced_in_both_directions() -> None:
    message = metadata([1, 2, 3, 4], ["a", "b", "", None], "prod", -1)
    assert replace_entities(message, MAPS) == 12
    expected = metadata([2, 1, 103, 4], ["z", "b", "", None], "edge", -1)
    assert message == expected
    assert replace_entities(message, MAPS, reverse=True) == 12
    assert message == metadata([1, 2, 3, 4], ["a", "b", "", None], "prod", -1)


def test_swapped_keys_are_found_by_their_new_ids() -> None:
    message = metadata([1, 2], [None, None], None, 1)
    first, second = message.brokers
    assert message.brokers.find(1) is first
    replace_entities(message, MAPS)
    assert message.brokers.find(2) is first
    assert message.brokers.find(1) is second
    assert [each.node_id for each in message.brokers] == [2, 1]
    assert MetadataResponse.read(message.write(13), 13) == message


def test_renamed_topic_leaves_another_of_its_old_name() -> None:
    topic = CreateTopicsRequest.CreatableTopic
    request = CreateTopicsRequest(topics=[topic(name="x", num_partitions=1), topic(name="x", num_partitions=2)])
    first, second = request.topics
    assert request.topics.find(name="x") is first
    next(iter(entities(request, "topicName"))).value = "y"
    assert (request.topics.find(name="x"), request.topics.find(name="y")) == (second, first)


@pytest.mark.parametrize(("names", "is_kept"), [(("a", "b"), True), (("a", "a"), False), (("a", "new"), False)])
def test_index_is_kept_if_old_and_new_key_are_unique(names: tuple[str, str], is_kept: bool) -> None:
    topics = CreateTopicsRequest(topics=[CreateTopicsRequest.CreatableTopic(name=name) for name in names])
    topics.topics.find(name="a")
    module = Path(collection.__file__)
    with recording(module) as lines:
        next(iter(entities(topics, "topicName"))).value = "new"
    assert lines.includes(module, "index[after] = index.pop(before)") == is_kept
    assert topics.topics.find_all(name="new") == [each for each in topics.topics if each.name == "new"]
    assert topics.topics.find_all(name="a") == [each for each in topics.topics if each.name == "a"]


def test_only_types_with_a_map_are_replaced() -> None:
    message = metadata([1], ["a"], "prod", 1)
    assert replace_entities(message, {}) == 0
    assert replace_entities(message, {"topicName": {"prod": "t"}, "groupId": {}}) == 1
    assert message.topics[0].name == "t"
    message.topics[0].name = "prod"
    assert message == metadata([1], ["a"], "prod", 1)


def test_broker_id_in_text_is_replaced() -> None:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    code = ConfigResourceType.BROKER
    message = DescribeConfigsRequest(resources=[resource(resource_type=code, resource_name="3")])
    assert replace_entities(message, MAPS) == 1
    assert message == DescribeConfigsRequest(resources=[resource(resource_type=code, resource_name="103")])


def test_types_of_a_response_come_from_its_request() -> None:
    request = FindCoordinatorRequest(key_type=CoordinatorType.GROUP, coordinator_keys=["g"])
    coordinator = FindCoordinatorResponse.Coordinator
    response = FindCoordinatorResponse(coordinators=[coordinator(key="g", node_id=3)])
    assert replace_entities(response, {"groupId": {"g": "h"}, "brokerId": {3: 103}}, request=request) == 2
    assert response == FindCoordinatorResponse(coordinators=[coordinator(key="h", node_id=103)])


@pytest.mark.parametrize(
    ("maps", "is_reverse", "error", "text"),
    [
        (
            {"brokerId": {1: 101, 2: 102, 3: 101}},
            True,
            ValueError,
            "the map of brokerId cannot be reversed: 1 and 3 have the same new value 101; make all new values different",
        ),
        ({"brokerid": {1: 2}}, False, ValueError, "unknown entity type 'brokerid'; did you mean 'brokerId'?"),
        ({"brokerId": {"1": 2}}, False, TypeError, "the map of brokerId must be from int to int, not from '1' to 2"),
        ({"brokerId": {1: "2"}}, True, TypeError, "the map of brokerId must be from int to int, not from 1 to '2'"),
        ({"brokerId": {1: True}}, False, TypeError, "the map of brokerId must be from int to int, not from 1 to True"),
        ({"rack": {"a": None}}, False, TypeError, "the map of rack must be from str to str, not from 'a' to None"),
        (
            {"rack": {"a": ""}},
            False,
            ValueError,
            "the map of rack is from 'a' to '', but an empty string is no rack; remove the entry",
        ),
        (
            {"brokerId": {-1: 101}},
            True,
            ValueError,
            "the map of brokerId is from -1 to 101, but a negative number is no brokerId; remove the entry",
        ),
        (
            {"brokerId": {1: 2, 101: 2**31}},
            False,
            ValueError,
            "the map of brokerId is from 101 to 2147483648, but the largest brokerId is 2147483647; correct the entry",
        ),
        (
            {"producerId": {2**63: 1}},
            True,
            ValueError,
            "the map of producerId is from 9223372036854775808 to 1, but the largest producerId is "
            "9223372036854775807; correct the entry",
        ),
        ({"brokerId": None}, False, TypeError, "the map of brokerId must be a mapping from int to int, not None"),
        (
            {"brokerId": [(1, 2)]},
            False,
            TypeError,
            "the map of brokerId must be a mapping from int to int, not [(1, 2)]",
        ),
        ({"rack": "ab"}, True, TypeError, "the map of rack must be a mapping from str to str, not 'ab'"),
    ],
)
def test_invalid_map_is_rejected_before_any_change(
    maps: Any, is_reverse: bool, error: type[Exception], text: str
) -> None:
    message = metadata([1, 101], ["a", "b"], "prod", 1)
    with pytest.raises(error) as raised:
        replace_entities(message, {"clusterId": {"prod": "edge"}, **maps}, reverse=is_reverse)
    assert str(raised.value) == text
    assert message == metadata([1, 101], ["a", "b"], "prod", 1)


@pytest.mark.parametrize("maps", [None, [("brokerId", {1: 2})], "brokerId"])
def test_maps_that_are_no_mapping_are_rejected(maps: Any) -> None:
    message = metadata([1], ["a"], "prod", 1)
    with pytest.raises(TypeError) as raised:
        replace_entities(message, maps)
    assert str(raised.value) == f"maps must be a mapping from entity types to mappings, not {maps!r}"
    assert message == metadata([1], ["a"], "prod", 1)


def test_message_and_request_are_checked_without_maps() -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match=r"^expected a message, got 5$"):
        replace_entities(wrong, {})
    with pytest.raises(TypeError, match=r"is not the request of FindCoordinatorResponse$"):
        replace_entities(FindCoordinatorResponse(), {}, request=MetadataRequest())


def test_largest_ids_are_replaced() -> None:
    message = metadata([1], ["a"], "prod", 1)
    assert replace_entities(message, {"brokerId": {1: 2**31 - 1}, "producerId": {1: 2**63 - 1}}) == 5
    assert message == metadata([2**31 - 1], ["a"], "prod", 2**31 - 1)


def test_shared_lists_and_structs_are_replaced_once() -> None:
    partition = MetadataResponse.MetadataResponsePartition
    ids = [1, 2, 3]
    shared = partition(leader_id=1, replica_nodes=ids, isr_nodes=ids)
    topic = MetadataResponse.MetadataResponseTopic
    message = MetadataResponse(topics=[topic(name="t", partitions=[shared, shared])])
    assert replace_entities(message, {"brokerId": {1: 2, 2: 3, 3: 1}}) == 4
    changed = partition(leader_id=2, replica_nodes=[2, 3, 1], isr_nodes=[2, 3, 1])
    assert message == MetadataResponse(topics=[topic(name="t", partitions=[changed, changed])])


def test_map_that_merges_values_is_allowed_without_reverse() -> None:
    message = metadata([1, 2], [None, None], None, 2)
    assert replace_entities(message, {"brokerId": {1: 7, 2: 7}}) == 8
    assert message == metadata([7, 7], [None, None], None, 7)


def test_value_of_the_wrong_type_is_reported_with_its_path() -> None:
    message = metadata([1], ["a"], "prod", 1)
    wrong: Any = ("g",)
    groups = DescribeGroupsRequest()
    groups.groups = wrong
    with pytest.raises(TypeError, match=r"^groups\[0\] is in \('g',\), which cannot be changed; use a list$"):
        replace_entities(groups, {"groupId": {"g": "h"}})
    wrong = "x"
    message.topics = wrong
    with pytest.raises(EncodeError, match=r"topics: "):
        replace_entities(message, MAPS)
    wrong = object()
    with pytest.raises(TypeError, match=r"^expected a message, got <object object at "):
        replace_entities(wrong, MAPS)


def cycles(message: Message) -> Iterator[tuple[EntityType, dict[Any, Any]]]:
    """Yield a map for each type: each value becomes the next one, and the last a value that is not in the message."""
    for kind in REPLACED:
        values: list[Any] = sorted({each.value for each in entities(message, kind)})
        unused = next(number for number in range(len(values) + 1) if number not in values)
        new = [*values, unused if kind == "brokerId" else "unused"]
        yield kind, dict(zip(values, new[1:], strict=True))


@pytest.mark.parametrize("name", message_names())
def test_all_values_of_vectors_are_replaced_and_restored(name: str) -> None:
    for vector in committed()[name]:
        message, same = (vector.cls.read(vector.data, vector.version) for _ in range(2))
        maps = dict(cycles(message))
        before = [(each.path, each.type, each.value) for each in entities(message, *REPLACED)]
        assert replace_entities(message, maps) == len(before)
        after = [(each.path, each.type, each.value) for each in entities(message, *REPLACED)]
        assert after == [(path, kind, maps[kind][value]) for path, kind, value in before]
        assert (message == same) is not bool(before)
        assert replace_entities(message, maps, reverse=True) == len(before)
        assert message == same
        assert message.write(vector.version) == same.write(vector.version)


class RecordingBroker:
    """A broker with id 1 in the rack ``a`` of the cluster ``prod``, which records the requests as they arrive."""

    def __init__(self) -> None:
        self.connection = ServerConnection(announce())
        self.requests: list[Message] = []

    def answered(self, data: bytes) -> Iterator[bytes]:
        for event in self.connection.receive_data(data):
            assert isinstance(event, RequestReceived)
            self.requests.append(event.request.message)
            yield self.connection.send(event, self.response(event.request.message).downgraded(event.response_version))

    def response(self, request: Message) -> Response:
        node = FetchResponse.NodeEndpoint(node_id=2, host="h", port=1, rack="a")
        described = DescribeClusterResponse.DescribeClusterBroker(broker_id=1, host="h", port=1, rack="a")
        partition = FetchResponse.PartitionData(
            preferred_read_replica=3, current_leader=FetchResponse.LeaderIdAndEpoch(leader_id=2, leader_epoch=5)
        )
        topic = FetchResponse.FetchableTopicResponse(partitions=[partition])
        match request:
            case ApiVersionsRequest():
                is_here = (request.cluster_id, request.node_id) in ((None, -1), ("prod", 1))
                return announce() if is_here else ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
            case MetadataRequest():
                return metadata([1, 2, 3], ["a", None, "b"], "prod", 2)
            case DescribeClusterRequest():
                return DescribeClusterResponse(cluster_id="prod", controller_id=3, brokers=[described])
            case FetchRequest():
                return FetchResponse(node_endpoints=[node], responses=[topic])
            case ConsumerGroupHeartbeatRequest():
                return ConsumerGroupHeartbeatResponse(member_id="m")
            case AlterPartitionReassignmentsRequest():
                return AlterPartitionReassignmentsResponse()
        raise AssertionError(request)


def through_proxy(proxy: ProxyConnection, cluster: RecordingBroker, client: ClientConnection, request: Any) -> Any:
    """Return the response of the cluster, with the ids of the client."""
    sent = client.send(request)
    for forwarded in proxy.receive_from_client(sent.data):
        assert isinstance(forwarded, RequestForwarded)
        assert forwarded.request is not None
        replace_entities(forwarded.request.message, MAPS, reverse=True)
        for data in cluster.answered(forwarded.encode()):
            for returned in proxy.receive_from_broker(data):
                assert isinstance(returned, ResponseForwarded)
                assert returned.message is not None
                replace_entities(returned.message, MAPS, request=returned.request.request)
                list(client.receive_data(returned.encode()))
    return sent.response


def test_proxy_renumbers_a_cluster_in_both_directions() -> None:
    proxy, cluster, client = ProxyConnection(), RecordingBroker(), ClientConnection("c")
    software: Any = {"client_software_name": "test", "client_software_version": "1"}
    asked = ApiVersionsRequest(**software, cluster_id="edge", node_id=2)
    assert cluster.response(asked) == ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    assert through_proxy(proxy, cluster, client, asked) == announce()
    assert cluster.requests == [ApiVersionsRequest(**software, cluster_id="prod", node_id=1)]

    expected = metadata([2, 1, 103], ["z", None, "b"], "edge", 1)
    assert through_proxy(proxy, cluster, client, MetadataRequest(topics=None)) == expected
    described = DescribeClusterResponse.DescribeClusterBroker(broker_id=2, host="h", port=1, rack="z")
    answer = through_proxy(proxy, cluster, client, DescribeClusterRequest())
    assert answer == DescribeClusterResponse(cluster_id="edge", controller_id=103, brokers=[described])

    answer = through_proxy(proxy, cluster, client, FetchRequest(rack_id="z"))
    assert cluster.requests[-1] == FetchRequest(rack_id="a")
    node = FetchResponse.NodeEndpoint(node_id=1, host="h", port=1, rack="z")
    leader = FetchResponse.LeaderIdAndEpoch(leader_id=1, leader_epoch=5)
    partition = FetchResponse.PartitionData(preferred_read_replica=103, current_leader=leader)
    topic = FetchResponse.FetchableTopicResponse(partitions=[partition])
    assert answer == FetchResponse(node_endpoints=[node], responses=[topic])

    heartbeat: Any = {"group_id": "g", "member_id": "m"}
    through_proxy(proxy, cluster, client, ConsumerGroupHeartbeatRequest(**heartbeat, rack_id="z"))
    assert cluster.requests[-1] == ConsumerGroupHeartbeatRequest(**heartbeat, rack_id="a")

    def reassigned(ids: list[int]) -> AlterPartitionReassignmentsRequest:
        kind = AlterPartitionReassignmentsRequest
        partitions = [kind.ReassignablePartition(partition_index=0, replicas=ids)]
        return kind(topics=[kind.ReassignableTopic(name="t", partitions=partitions)])

    through_proxy(proxy, cluster, client, reassigned([103, 2]))
    assert cluster.requests[-1] == reassigned([3, 1])
