"""Consumer groups of the cluster (KIP-848); responses and errors as those of a Kafka 4.4.0 broker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages import (
    DeleteTopicsRequest,
    DescribeGroupsRequest,
    JoinGroupRequest,
    ListGroupsRequest,
    ListGroupsResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster
from kafka_messages_testkit.state import consumer_group
from kafka_messages_testkit.state.consumer_group import ConsumerGroup

from tests.support.testkit_broker import asked
from tests.support.testkit_heartbeats import GROUP, Heartbeats, accepted, left, refused, topic_id

ALL = [0, 1, 2, 3]
FENCED = "The member must abandon all its partitions and rejoin."


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(topics={"orders": 4}) as cluster:
        yield cluster


def short_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_group, "SESSION_SECONDS", 0.05)


def test_the_first_member_gets_all_partitions(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    assert beats.join("one") == accepted("one", 2, {orders: ALL})
    assert beats.send("one", 2, {orders: ALL}) == accepted("one", 2)
    assert cluster.group(GROUP).state == "Stable"


def test_partitions_are_revoked_before_another_member_gets_them(cluster: KafkaCluster) -> None:
    beats, orders, group = Heartbeats(cluster), topic_id(cluster, "orders"), cluster.group(GROUP)
    beats.join("one")
    assert beats.join("two") == accepted("two", 3, {})
    assert group.state == "Reconciling"
    assert beats.send("one", 2) == accepted("one", 2, {orders: [0, 1]})
    assert beats.send("one", 2, {orders: ALL}) == accepted("one", 2)  # still owns all
    assert beats.send("two", 3) == accepted("two", 3)
    assert beats.send("one", 2, {orders: [0, 1]}) == accepted("one", 3)
    assert group.state == "Reconciling"
    assert beats.send("two", 3) == accepted("two", 3, {orders: [2, 3]})
    assert group.state == "Stable"


def test_partitions_of_a_member_that_leaves_go_to_the_others(cluster: KafkaCluster) -> None:
    beats, orders, group = Heartbeats(cluster), topic_id(cluster, "orders"), cluster.group(GROUP)
    beats.join("one")
    beats.join("two")
    assert beats.send("one", -1) == left("one")
    assert group.state == "Assigning"
    assert beats.send("two", 3) == accepted("two", 4, {orders: ALL})
    assert beats.send("two", -1) == left("two")
    assert group.state == "Empty"


def test_a_full_heartbeat_gets_the_assignment_again(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one")
    fields: dict[str, Any] = {"rebalance_timeout_ms": 1000, "subscribed_topic_names": ["orders"]}
    assert beats.send("one", 2, {orders: ALL}, **fields) == accepted("one", 2, {orders: ALL})


def test_a_member_may_repeat_its_previous_epoch_after_a_lost_response(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one")
    beats.join("two")
    beats.send("one", 2)
    assert beats.send("one", 2, {orders: [0, 1]}) == accepted("one", 3)
    assert beats.send("one", 2, {orders: [0, 1]}) == accepted("one", 3)
    fenced = refused(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a smaller member epoch (2) than the one known by the group coordinator (3)."
        f" {FENCED}",
    )
    assert beats.send("one", 2) == fenced
    assert beats.send("one", 2, {orders: ALL}) == fenced


def test_a_member_with_an_unknown_epoch_is_fenced_and_joins_again(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one")
    assert beats.send("one", 3) == refused(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a greater member epoch (3) than the one known by the group coordinator (2)."
        f" {FENCED}",
    )
    assert beats.join("one") == accepted("one", 2, {orders: ALL})


def test_a_member_of_version_0_gets_an_id(cluster: KafkaCluster) -> None:
    response = Heartbeats(cluster).join("", version=0)
    assert response.member_id
    assert response == accepted(response.member_id, 2, {topic_id(cluster, "orders"): ALL})


@pytest.mark.parametrize(
    ("member", "epoch", "fields", "code", "message"),
    [
        ("two", 3, {}, ErrorCode.UNKNOWN_MEMBER_ID, "Member two is not a member of group billing."),
        ("two", -1, {}, ErrorCode.UNKNOWN_MEMBER_ID, "Member two is not a member of group billing."),
        ("two", 3, {"instance_id": "b"}, ErrorCode.UNKNOWN_MEMBER_ID, "Instance id b is unknown."),
        ("two", -2, {"instance_id": "b"}, ErrorCode.UNKNOWN_MEMBER_ID, "Instance id b is unknown."),
        ("", 0, {}, ErrorCode.INVALID_REQUEST, "MemberId can't be empty."),
        ("one", 2, {"instance_id": ""}, ErrorCode.INVALID_REQUEST, "InstanceId can't be empty."),
        ("one", 2, {"rack_id": " "}, ErrorCode.INVALID_REQUEST, "RackId can't be empty."),
        ("one", -2, {}, ErrorCode.INVALID_REQUEST, "InstanceId can't be null."),
        ("one", -3, {}, ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid."),
        ("one", 0, {}, ErrorCode.INVALID_REQUEST, "RebalanceTimeoutMs must be provided in first request."),
        (
            "one",
            0,
            {"rebalance_timeout_ms": 1},
            ErrorCode.INVALID_REQUEST,
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            "one",
            0,
            {"rebalance_timeout_ms": 1, "owned": {}},
            ErrorCode.INVALID_REQUEST,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (
            "one",
            2,
            {"server_assignor": "sticky"},
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            "ServerAssignor sticky is not supported. Supported assignors: uniform, range.",
        ),
    ],
)
def test_refused_heartbeats(
    cluster: KafkaCluster, member: str, epoch: int, fields: dict[str, Any], code: ErrorCode, message: str
) -> None:
    beats = Heartbeats(cluster)
    beats.join("one")
    assert beats.send(member, epoch, **fields) == refused(code, message)
    assert [each.member_id for each in cluster.group(GROUP).members] == ["one"]


def test_an_unknown_group_has_no_members(cluster: KafkaCluster) -> None:
    beats = Heartbeats(cluster)
    assert beats.send("one", 3) == refused(ErrorCode.GROUP_ID_NOT_FOUND, "Consumer group billing not found.")
    assert beats.send("one", -1) == refused(ErrorCode.GROUP_ID_NOT_FOUND, "Group billing not found.")
    assert Heartbeats(cluster, "").join("one") == refused(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
    assert cluster.group(GROUP).state == "Dead"


def test_another_static_member_replaces_one_that_left_for_a_while(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    assert beats.join("one", instance_id="a") == accepted("one", 2, {orders: ALL})
    assert beats.send("one", -2, instance_id="a") == left("one", -2)
    assert beats.join("two") == accepted("two", 3, {})  # the partitions are still those of the static member
    assert beats.join("three", instance_id="a") == accepted("three", 3, {orders: [0, 1]})
    assert beats.send("two", 3) == accepted("two", 3, {orders: [2, 3]})
    assert [(each.member_id, each.instance_id) for each in cluster.group(GROUP).members] == [
        ("two", None),
        ("three", "a"),
    ]


def test_a_static_member_keeps_its_partitions_without_a_rebalance(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one", instance_id="a")
    beats.send("one", -2, instance_id="a")
    assert cluster.group(GROUP).state == "Reconciling"
    assert beats.join("two", instance_id="a") == accepted("two", 2, {orders: ALL})
    assert beats.send("two", 2, {orders: ALL}, instance_id="a") == accepted("two", 2)
    assert beats.send("one", 2, instance_id="a") == refused(
        ErrorCode.FENCED_INSTANCE_ID, "Static member one with instance id a was fenced by member two."
    )


def test_a_static_member_is_not_replaced_before_it_left(cluster: KafkaCluster) -> None:
    beats = Heartbeats(cluster)
    beats.join("one", instance_id="a")
    assert beats.join("two", instance_id="a") == refused(
        ErrorCode.UNRELEASED_INSTANCE_ID,
        "Static member two with instance id a cannot join the group because the instance id is owned by one member.",
    )


def test_a_member_without_heartbeats_is_removed(cluster: KafkaCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    short_sessions(monkeypatch)
    beats.join("one", instance_id="a")
    beats.send("one", -2, instance_id="a")  # does not extend the session
    cluster.group(GROUP).wait_stable(0)
    monkeypatch.undo()
    assert beats.join("two") == accepted("two", 4, {orders: ALL})


def test_a_member_that_does_not_revoke_its_partitions_is_removed(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one", rebalance_timeout_ms=20)
    beats.join("two")
    assert beats.send("one", 2, {orders: ALL}) == accepted("one", 2, {orders: [0, 1]})
    deadline = time.monotonic() + 10
    while len(cluster.group(GROUP).members) == 2:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert beats.send("two", 3) == accepted("two", 4, {orders: ALL})
    assert beats.send("one", 2, {orders: [0, 1]}) == refused(
        ErrorCode.UNKNOWN_MEMBER_ID, "Member one is not a member of group billing."
    )


def test_a_static_member_that_left_need_not_revoke_partitions(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one", instance_id="a")
    beats.join("two")
    assert beats.send("one", 2, {orders: ALL}, instance_id="a") == accepted("one", 2, {orders: [0, 1]})
    group = cluster._state.groups[GROUP]
    assert isinstance(group, ConsumerGroup)
    timer = group.by_id["one"].rebalance_timer
    assert timer is not None
    assert not timer.cancelled()
    beats.send("one", -2, instance_id="a")
    assert timer.cancelled()
    assert beats.send("two", 3) == accepted("two", 3, {orders: [2, 3]})


def test_a_dynamic_member_may_become_a_static_one(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one")
    assert beats.join("one", instance_id="a") == accepted("one", 3, {orders: ALL})
    assert [(each.member_id, each.instance_id) for each in cluster.group(GROUP).members] == [("one", "a")]


def test_a_new_subscription_changes_the_assignment(cluster: KafkaCluster) -> None:
    cluster.create_topic("paid", 2)
    beats, orders, paid = Heartbeats(cluster), topic_id(cluster, "orders"), topic_id(cluster, "paid")
    beats.join("one")
    assert beats.send("one", 2, subscribed_topic_names=["paid"]) == accepted("one", 2, {})
    assert beats.send("one", 2, {}) == accepted("one", 3, {paid: [0, 1]})
    names = ["paid", "orders"]
    both = dict(sorted({paid: [0, 1], orders: ALL}.items()))
    assert beats.send("one", 3, subscribed_topic_names=names) == accepted("one", 4, both)


def test_a_member_gets_a_subscribed_topic_once_it_exists(cluster: KafkaCluster) -> None:
    beats = Heartbeats(cluster)
    assert beats.join("one", "paid") == accepted("one", 2, {})
    cluster.group(GROUP).wait_stable(1)
    cluster.create_topic("paid", 2)
    with pytest.raises(TimeoutError):
        cluster.group(GROUP).wait_stable(1, timeout=0.01)
    assert beats.send("one", 2, {}) == accepted("one", 3, {topic_id(cluster, "paid"): [0, 1]})
    cluster.group(GROUP).wait_stable(1)


def test_a_deleted_topic_is_revoked(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one")
    asked(cluster.bootstrap_servers, DeleteTopicsRequest(topics=[DeleteTopicsRequest.DeleteTopicState(name="orders")]))
    assert beats.send("one", 2) == accepted("one", 2, {})
    assert beats.send("one", 2, {}) == accepted("one", 3)
    cluster.create_topic("orders")
    assert topic_id(cluster, "orders") != orders
    assert beats.send("one", 3, {}) == accepted("one", 4, {topic_id(cluster, "orders"): [0]})


def test_a_regular_expression_subscribes_to_topics_that_match_as_a_whole(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    assert beats.join("one", subscribed_topic_regex="order") == accepted("one", 2, {})
    assert beats.join("two", subscribed_topic_regex="order.*") == accepted("two", 3, {orders: ALL})
    cluster.create_topic("orders-late")
    late = topic_id(cluster, "orders-late")
    both = dict(sorted({orders: ALL, late: [0]}.items()))
    assert beats.send("two", 3) == accepted("two", 4, both)
    assert beats.send("two", 4, subscribed_topic_regex="") == accepted("two", 4, {})


def test_an_invalid_regular_expression_changes_nothing(cluster: KafkaCluster) -> None:
    response = Heartbeats(cluster).join("one", subscribed_topic_regex="(")
    assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert "`(` is not a valid regular expression" in (response.error_message or "")
    assert cluster.group(GROUP).state == "Dead"


def test_the_range_assignor_gives_static_members_the_first_partitions(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    beats.join("one", server_assignor="range")
    assert beats.join("two", instance_id="b", server_assignor="range") == accepted("two", 3, {})
    assert beats.join("three", instance_id="a", server_assignor="range") == accepted("three", 4, {})
    beats.send("one", 2)
    assert beats.send("one", 2, {orders: [3]}) == accepted("one", 4)
    assert beats.send("two", 3, instance_id="b") == accepted("two", 4, {orders: [2]})
    assert beats.send("three", 4, instance_id="a") == accepted("three", 4, {orders: [0, 1]})


def committed(cluster: KafkaCluster, member: str, epoch: int, *indexes: int, version: int | None = None) -> list[str]:
    """Commit offsets of ``orders``; return the names of the error codes."""
    kind = OffsetCommitRequest
    parts = [kind.OffsetCommitRequestPartition(partition_index=index, committed_offset=5) for index in indexes]
    topic = kind.OffsetCommitRequestTopic(name="orders", partitions=parts)
    if version is None:
        topic.topic_id = topic_id(cluster, "orders")
    request = kind(group_id=GROUP, generation_id_or_member_epoch=epoch, member_id=member, topics=[topic])
    [response] = asked(cluster.bootstrap_servers, request, version=version)
    return [ErrorCode(each.error_code).name for topic in response.topics for each in topic.partitions]


def fetched(cluster: KafkaCluster, member: str | None, epoch: int) -> str:
    kind = OffsetFetchRequest.OffsetFetchRequestGroup
    group = kind(group_id=GROUP, member_id=member, member_epoch=epoch, topics=None)
    [response] = asked(cluster.bootstrap_servers, OffsetFetchRequest(groups=[group]))
    return ErrorCode(response.groups[0].error_code).name


def test_commits_need_a_member_and_its_epoch(cluster: KafkaCluster) -> None:
    beats, orders = Heartbeats(cluster), topic_id(cluster, "orders")
    assert committed(cluster, "", -1, 0) == ["NONE"]  # no member yet
    beats.join("one")
    beats.join("two")
    beats.send("one", 2)
    assert committed(cluster, "one", 2, 0, 3) == ["NONE", "NONE"]  # also partitions that are being revoked
    beats.send("one", 2, {orders: [0, 1]})
    beats.send("two", 3)
    assert committed(cluster, "one", 2, 0, 1) == ["NONE", "NONE"]  # had both at epoch 2 (KIP-1251)
    assert committed(cluster, "one", 2, 0, 3) == ["STALE_MEMBER_EPOCH"] * 2
    assert committed(cluster, "one", 3, 3) == ["NONE"]
    assert committed(cluster, "one", 4, 0) == ["STALE_MEMBER_EPOCH"]
    assert committed(cluster, "two", 2, 3) == ["STALE_MEMBER_EPOCH"]
    assert committed(cluster, "three", 3, 0) == ["UNKNOWN_MEMBER_ID"]
    assert committed(cluster, "", -1, 0) == ["UNKNOWN_MEMBER_ID"]
    assert committed(cluster, "one", 3, 0, version=8) == ["UNSUPPORTED_VERSION"]


def test_fetches_of_offsets_need_a_member_and_its_epoch_or_neither(cluster: KafkaCluster) -> None:
    Heartbeats(cluster).join("one")
    assert fetched(cluster, "one", 2) == "NONE"
    assert fetched(cluster, None, -1) == "NONE"
    assert fetched(cluster, "one", 1) == "STALE_MEMBER_EPOCH"
    assert fetched(cluster, "two", 2) == "UNKNOWN_MEMBER_ID"


def test_a_rebalance_exchanges_the_partitions_of_members(cluster: KafkaCluster) -> None:
    beats, orders, group = Heartbeats(cluster), topic_id(cluster, "orders"), cluster.group(GROUP)
    beats.join("one")
    beats.join("two")
    beats.send("one", 2)
    beats.send("one", 2, {orders: [0, 1]})
    beats.send("two", 3)
    group.wait_stable(2)
    group.rebalance()
    assert beats.send("one", 3) == accepted("one", 3, {})
    assert beats.send("two", 3) == accepted("two", 3, {})
    assert beats.send("one", 3, {}) == accepted("one", 4)
    assert beats.send("two", 3, {}) == accepted("two", 4, {orders: [0, 1]})
    assert beats.send("one", 4) == accepted("one", 4, {orders: [2, 3]})
    group.wait_stable(2)
    assert [(each.member_id, each.assignment) for each in group.members] == [
        ("one", [("orders", 2), ("orders", 3)]),
        ("two", [("orders", 0), ("orders", 1)]),
    ]


def test_an_expired_member_is_unknown(cluster: KafkaCluster) -> None:
    beats, group = Heartbeats(cluster), cluster.group(GROUP)
    beats.join("one")
    group.expire("one")
    assert group.state == "Empty"
    assert beats.send("one", 2) == refused(ErrorCode.UNKNOWN_MEMBER_ID, "Member one is not a member of group billing.")
    with pytest.raises(ValueError, match="has no member 'one'"):
        group.expire("one")


def test_only_the_coordinator_answers() -> None:
    with KafkaCluster(2, topics={"orders": 4}) as cluster:
        beats = Heartbeats(cluster)  # uses the first broker
        cluster.move_coordinator(GROUP, 1)
        assert beats.join("one").error_code == ErrorCode.NONE
        cluster.move_coordinator(GROUP, 2)
        assert beats.send("one", 2).error_code == ErrorCode.NOT_COORDINATOR
        cluster.move_coordinator(GROUP, 1)
        assert beats.send("one", 2) == accepted("one", 2)


def test_consumer_groups_are_listed_and_not_described_as_classic_ones(cluster: KafkaCluster) -> None:
    Heartbeats(cluster).join("one")
    requests = ListGroupsRequest(), ListGroupsRequest(types_filter=["classic"]), DescribeGroupsRequest(groups=[GROUP])
    listed, classic, described = asked(cluster.bootstrap_servers, *requests)
    kind = ListGroupsResponse.ListedGroup
    assert listed == ListGroupsResponse(
        groups=[kind(group_id=GROUP, protocol_type="consumer", group_state="Stable", group_type="consumer")]
    )
    assert classic == ListGroupsResponse()
    assert described.groups[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.groups[0].error_message == "Group billing is not a classic group."


def classic_join(cluster: KafkaCluster, member: str = "", version: int | None = None) -> Any:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
    fields: dict[str, Any] = {"group_id": GROUP, "session_timeout_ms": 10_000, "rebalance_timeout_ms": 10_000}
    request = JoinGroupRequest(member_id=member, protocol_type="consumer", protocols=[protocol], **fields)
    return asked(cluster.bootstrap_servers, request, version=version)[0]


def test_a_group_without_members_changes_its_protocol_and_keeps_its_offsets(cluster: KafkaCluster) -> None:
    beats = Heartbeats(cluster)
    cluster.commit(GROUP, {("orders", 0): 7})
    assert beats.join("one").error_code == ErrorCode.NONE
    assert classic_join(cluster).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    beats.send("one", -1)
    joined = classic_join(cluster, version=3)  # answers without MEMBER_ID_REQUIRED
    assert joined.error_code == ErrorCode.NONE
    assert beats.join("two") == refused(ErrorCode.GROUP_ID_NOT_FOUND, "Group billing is not a consumer group.")
    cluster.group(GROUP).expire(joined.member_id)
    assert beats.join("two").error_code == ErrorCode.NONE
    assert cluster.committed(GROUP) == {("orders", 0): 7}
