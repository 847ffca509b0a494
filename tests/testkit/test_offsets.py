"""Committed offsets of the cluster: all versions, errors by state of the group, and offsets of transactions."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    DeleteTopicsRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster
from kafka_messages_testkit.state.offsets import Committed, Offsets

from tests.support.testkit_broker import asked
from tests.support.testkit_groups import GROUP, Scene, played

OTHER_ID = UUID(int=7)
FETCHED = OffsetFetchResponse.OffsetFetchResponsePartitions


def commit(index: int = 0, offset: int = 5, topic: str = "orders", **changes: Any) -> OffsetCommitRequest:
    kind = OffsetCommitRequest
    part = kind.OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata="m")
    part.committed_leader_epoch = changes.pop("epoch", -1)
    return kind(group_id=GROUP, topics=[kind.OffsetCommitRequestTopic(name=topic, partitions=[part])], **changes)


def committed(
    code: int = 0, index: int = 0, topic: str = "orders", topic_id: UUID | None = None
) -> OffsetCommitResponse:
    kind = OffsetCommitResponse
    part = kind.OffsetCommitResponsePartition(partition_index=index, error_code=code)
    id = topic_id or UUID(int=0)
    return kind(topics=[kind.OffsetCommitResponseTopic(name=topic, topic_id=id, partitions=[part])])


def fetch(*indexes: int, group: str = GROUP, topic: str = "orders", **changes: Any) -> OffsetFetchRequest:
    """Return a request of version 8 or newer, by default for all partitions."""
    kind = OffsetFetchRequest
    topics = [kind.OffsetFetchRequestTopics(name=topic, partition_indexes=indexes)] if indexes else None
    return kind(groups=[kind.OffsetFetchRequestGroup(group_id=group, topics=topics)], **changes)


def fetched(
    *parts: OffsetFetchResponse.OffsetFetchResponsePartitions, group: str = GROUP, **changes: Any
) -> OffsetFetchResponse:
    kind = OffsetFetchResponse
    topics = [kind.OffsetFetchResponseTopics(name="orders", partitions=parts)] if parts else []
    return kind(groups=[kind.OffsetFetchResponseGroup(group_id=group, topics=topics, **changes)])


@pytest.mark.parametrize("version", range(10))
def test_offsets_are_committed_in_all_versions(version: int) -> None:
    request = commit(epoch=3) if version >= 6 else commit()
    with KafkaCluster(topics={"orders": 1}, release="2.8" if version < 2 else None) as cluster:
        [response] = asked(cluster.bootstrap_servers, request, version=version)
        assert response == committed()
        assert cluster.committed(GROUP) == {("orders", 0): 5}
        found = cluster._state.offsets.find(GROUP, "orders", 0)
        assert found is not None
        assert found[:3] == (5, 3 if version >= 6 else -1, "m")
        assert (cluster.group(GROUP).state, cluster.group(GROUP).members) == ("Empty", [])


@pytest.mark.parametrize("version", range(8))
def test_offsets_are_fetched_in_versions_with_one_group(version: int) -> None:
    kind, part = OffsetFetchRequest, OffsetFetchResponse.OffsetFetchResponsePartition
    some = kind(group_id=GROUP, topics=[kind.OffsetFetchRequestTopic(name="orders", partition_indexes=[0, 1])])
    with KafkaCluster(topics={"orders": 2}, release="2.8" if version < 1 else None) as cluster:
        asked(cluster.bootstrap_servers, commit(epoch=3), version=8)
        responses = asked(cluster.bootstrap_servers, some, version=version)
        known = part(partition_index=0, committed_offset=5, metadata="m")
        if version >= 5:
            known.committed_leader_epoch = 3
        none = part(partition_index=1, committed_offset=-1)
        topic = OffsetFetchResponse.OffsetFetchResponseTopic(name="orders", partitions=[known, none])
        assert responses == [OffsetFetchResponse(topics=[topic])]
        if version >= 2:
            topic.partitions = [known]
            responses = asked(cluster.bootstrap_servers, kind(group_id=GROUP, topics=None), version=version)
            assert responses == [OffsetFetchResponse(topics=[topic])]


@pytest.mark.parametrize("version", [8, 9])
def test_offsets_of_several_groups_are_fetched(version: int) -> None:
    with KafkaCluster(topics={"orders": 2}) as cluster:
        cluster.commit(GROUP, {("orders", 1): 7})
        request = fetch(0, 1)
        request.groups += [*fetch().groups, *fetch(group="other").groups, *fetch(0, group="other").groups]
        [response] = asked(cluster.bootstrap_servers, request, version=version)
    known, none = FETCHED(partition_index=1, committed_offset=7), FETCHED(partition_index=0, committed_offset=-1)
    parts = [fetched(none, known), fetched(known), fetched(group="other"), fetched(none, group="other")]
    assert response == OffsetFetchResponse(groups=[each.groups[0] for each in parts])


def test_topic_ids_select_topics_from_version_10_on() -> None:
    with KafkaCluster(topics={"orders": 1}) as cluster:
        topic_id = cluster._state.topics.by_name["orders"].id
        known, unknown = commit(topic=""), commit(topic="")
        known.topics[0].topic_id, unknown.topics[0].topic_id = topic_id, OTHER_ID
        responses = asked(cluster.bootstrap_servers, known, unknown, version=10)
        assert responses == [
            committed(topic="", topic_id=topic_id),
            committed(ErrorCode.UNKNOWN_TOPIC_ID, topic="", topic_id=OTHER_ID),
        ]
        some, other = fetch(0, topic=""), fetch(0, topic="")
        some.groups[0].topics[0].topic_id, other.groups[0].topics[0].topic_id = topic_id, OTHER_ID  # type: ignore[index]
        responses = asked(cluster.bootstrap_servers, some, fetch(), other, version=10)
    found = fetched(FETCHED(partition_index=0, committed_offset=5, metadata="m"))
    found.groups[0].topics[0].name, found.groups[0].topics[0].topic_id = "", topic_id
    missing = fetched(FETCHED(partition_index=0, committed_offset=-1, error_code=ErrorCode.UNKNOWN_TOPIC_ID))
    missing.groups[0].topics[0].name, missing.groups[0].topics[0].topic_id = "", OTHER_ID
    assert responses == [found, found, missing]


@pytest.mark.parametrize(
    ("code", "request_"),
    [
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, commit(1)),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, commit(topic="none")),
        (ErrorCode.GROUP_ID_NOT_FOUND, commit(member_id="one", generation_id_or_member_epoch=1)),
        (ErrorCode.OFFSET_METADATA_TOO_LARGE, commit(0)),
    ],
)
def test_invalid_commits_are_refused(code: ErrorCode, request_: OffsetCommitRequest) -> None:
    if code == ErrorCode.OFFSET_METADATA_TOO_LARGE:
        request_.topics[0].partitions[0].committed_metadata = "m" * 4097
    with KafkaCluster(topics={"orders": 1}) as cluster:
        [response] = asked(cluster.bootstrap_servers, request_, version=9)
        assert response == committed(code, request_.topics[0].partitions[0].partition_index, request_.topics[0].name)
        if code == ErrorCode.GROUP_ID_NOT_FOUND:
            [response] = asked(cluster.bootstrap_servers, request_, version=8)
            assert response == committed(ErrorCode.ILLEGAL_GENERATION)
        assert cluster.committed(GROUP) == {}


def test_an_unknown_partition_does_not_prevent_other_commits() -> None:
    request = commit(0)
    request.topics += [*commit(3).topics, *commit(1).topics]
    with KafkaCluster(topics={"orders": 2}) as cluster:
        [response] = asked(cluster.bootstrap_servers, request, version=9)
        parts = [committed(0, 0), committed(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 3), committed(0, 1)]
        assert response == OffsetCommitResponse(topics=[each.topics[0] for each in parts])
        assert cluster.committed(GROUP) == {("orders", 0): 5, ("orders", 1): 5}


def test_members_commit_in_their_generation_only() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two", "second")
        await scene.stable(one, two)

        async def code(member_id: str, generation: int, instance_id: str | None = None, offset: int = 1) -> ErrorCode:
            member = {"member_id": member_id, "group_instance_id": instance_id}
            request = commit(0, offset, "orders", generation_id_or_member_epoch=generation, **member)
            response = await one.connection.request(request, 9)
            return ErrorCode(response.topics[0].partitions[0].error_code)

        before = scene.inside(lambda group: group.by_id[one.member_id].expiry.when())
        assert await code(one.member_id, 2, offset=9) == ErrorCode.NONE
        assert scene.inside(lambda group: group.by_id[one.member_id].expiry.when()) > before
        assert await code(one.member_id, 1) == ErrorCode.ILLEGAL_GENERATION
        assert await code(one.member_id, -1) == ErrorCode.ILLEGAL_GENERATION
        assert await code("other", 2) == ErrorCode.UNKNOWN_MEMBER_ID
        assert await code("", -1) == ErrorCode.UNKNOWN_MEMBER_ID
        assert await code("other", 2, "second") == ErrorCode.FENCED_INSTANCE_ID
        assert await code("other", 2, "third") == ErrorCode.UNKNOWN_MEMBER_ID
        scene.cluster.group(GROUP).rebalance()
        assert await code(one.member_id, 2, offset=10) == ErrorCode.NONE
        await asyncio.gather(await two.begin_join(), one.join())
        assert await code(one.member_id, 2) == ErrorCode.ILLEGAL_GENERATION
        assert await code(one.member_id, 3) == ErrorCode.REBALANCE_IN_PROGRESS
        assert scene.cluster.committed(GROUP) == {("orders", 0): 10}
        await one.leave()
        await two.leave()
        assert await code(one.member_id, 3) == ErrorCode.UNKNOWN_MEMBER_ID
        assert await code("", -1, offset=11) == ErrorCode.NONE
        assert scene.cluster.committed(GROUP) == {("orders", 0): 11}

    played(play, topics={"orders": 1})


def test_other_brokers_are_not_the_coordinator() -> None:
    with KafkaCluster(2, topics={"orders": 1}) as cluster:
        cluster.move_coordinator(GROUP, 2)
        cluster.move_coordinator("other", 1)
        several = fetch(0)
        several.groups += fetch(group="other").groups
        old = OffsetFetchRequest(group_id=GROUP, topics=None)
        responses = [
            *asked(cluster.bootstrap_servers, commit(), several, version=9),
            *asked(cluster.bootstrap_servers, old, version=7),
        ]
    refused = fetched(error_code=ErrorCode.NOT_COORDINATOR)
    refused.groups += fetched(group="other").groups
    code = ErrorCode.NOT_COORDINATOR
    assert responses == [committed(code), refused, OffsetFetchResponse(error_code=code)]


def test_offsets_of_open_transactions_are_unstable() -> None:
    with KafkaCluster(topics={"orders": 2}) as cluster:
        cluster.commit(GROUP, {("orders", 0): 1, ("orders", 1): 1})
        offsets = cluster._state.offsets
        offsets.add_pending(GROUP, 1000, "orders", 0, Committed(2))
        stable, any_ = fetch(0, 1, require_stable=True), fetch(0, 1)
        before = asked(cluster.bootstrap_servers, stable, any_, fetch(require_stable=True), version=9)
        offsets.end_pending(1000, True)
        [after] = asked(cluster.bootstrap_servers, stable, version=9)
    unstable = FETCHED(partition_index=0, committed_offset=-1, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    zero, one = [FETCHED(partition_index=index, committed_offset=1) for index in (0, 1)]
    assert before == [fetched(unstable, one), fetched(zero, one), fetched(unstable, one)]
    assert after == fetched(FETCHED(partition_index=0, committed_offset=2), one)


def test_transactions_commit_offsets_in_the_order_of_requests() -> None:
    offsets = Offsets()
    offsets.commit("g", "t", 0, Committed(1))
    for producer_id, offset in ((1, 2), (2, 3)):
        offsets.add_pending("g", producer_id, "t", 0, Committed(offset))
    offsets.end_pending(2, True)
    assert (offsets.find("g", "t", 0), offsets.is_pending("g", "t", 0)) == (Committed(3), True)
    offsets.end_pending(1, True)
    assert (offsets.find("g", "t", 0), offsets.is_pending("g", "t", 0)) == (Committed(3), False)
    offsets.add_pending("g", 1, "t", 0, Committed(4))
    offsets.end_pending(1, False)
    assert offsets.find("g", "t", 0) == Committed(3)
    offsets.add_pending("g", 1, "t", 1, Committed(4))
    offsets.forget_topic("t")
    assert (offsets.of_group("g"), offsets.is_pending("g", "t", 1)) == ({}, False)


def test_a_deleted_topic_loses_its_offsets() -> None:
    with KafkaCluster(topics={"orders": 1, "bills": 1}) as cluster:
        cluster.commit(GROUP, {("orders", 0): 1, ("bills", 0): 2})
        asked(cluster.bootstrap_servers, DeleteTopicsRequest(topic_names=["orders"]), version=5)
        assert cluster.committed(GROUP) == {("bills", 0): 2}
        [response] = asked(cluster.bootstrap_servers, fetch(), version=9)
    assert [each.name for each in response.groups[0].topics] == ["bills"]


def test_offsets_are_set_and_read_by_tests() -> None:
    with KafkaCluster(topics={"orders": 1}) as cluster:
        assert cluster.committed(GROUP) == {}
        cluster.commit(GROUP, {("orders", 0): 4})
        assert cluster.committed(GROUP) == {("orders", 0): 4}
        with pytest.raises(ValueError, match="partition must be from 0 to 0 for topic 'orders', not 1"):
            cluster.commit(GROUP, {("orders", 0): 5, ("orders", 1): 5})
        with pytest.raises(ValueError, match="topic 'other' does not exist"):
            cluster.commit(GROUP, {("other", 0): 5})
        assert cluster.committed(GROUP) == {("orders", 0): 4}
