"""Classic groups of the cluster: members, generations, static members, and errors in each state."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import (
    ConsumerProtocolAssignment,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka_messages.internal_topics import write_versioned
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import GroupMember, KafkaCluster
from kafka_messages_testkit.state.classic_group import ClassicGroup, ClassicMember

from tests.support.testkit_broker import asked
from tests.support.testkit_groups import GROUP, Consumer, Scene, played

MEMBER = JoinGroupResponse.JoinGroupResponseMember
# Members with their protocols, the preferred first, and what ``ClassicGroup.selectProtocol`` of Kafka 4.4.0 returned.
VOTES = Path(__file__).with_name("assignors.tsv").read_text(encoding="utf-8").splitlines()


def joined(consumer: Consumer, leader: Consumer | str, *members: Consumer, skips: bool = False) -> JoinGroupResponse:
    """Return the response to a member of a generation; ``members`` is what the leader gets."""
    return JoinGroupResponse(
        generation_id=consumer.generation,
        protocol_type="consumer",
        protocol_name="range",
        leader=leader if isinstance(leader, str) else leader.member_id,
        skip_assignment=skips,
        member_id=consumer.member_id,
        members=[
            MEMBER(member_id=each.member_id, group_instance_id=each.instance_id, metadata=b"of " + each.name.encode())
            for each in members
        ],
    )


def refused(code: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    """Return the response to a member that may not join."""
    return JoinGroupResponse(error_code=code, member_id=member_id, protocol_name=None)


def short_rebalance(group: Any) -> None:
    """Give the members 50 ms to rejoin."""
    for member in group.by_id.values():
        member.rebalance_seconds = 0.05


def synced(assignment: bytes) -> SyncGroupResponse:
    return SyncGroupResponse(protocol_type="consumer", protocol_name="range", assignment=assignment)


def test_a_new_member_gets_an_id_and_joins_with_it() -> None:
    async def play(scene: Scene) -> None:
        one = await scene.consumer("one")
        first = await one.join()
        assert re.fullmatch("one-[0-9a-f-]{36}", one.member_id)
        assert first == refused(ErrorCode.MEMBER_ID_REQUIRED, one.member_id)
        assert await one.join() == joined(one, one, one)
        assert one.generation == 1
        assert await one.sync((one, b"all")) == synced(b"all")
        assert await one.heartbeat() == ErrorCode.NONE

    played(play)


@pytest.mark.parametrize("version", range(10))
def test_a_member_joins_and_syncs_in_all_versions(version: int) -> None:
    async def play(scene: Scene) -> None:
        one = await scene.consumer("one")
        response = await one.join(version)
        if version >= 4:
            assert response == refused(ErrorCode.MEMBER_ID_REQUIRED, one.member_id).downgraded(version)
            response = await one.join(version)
        assert response == joined(one, one, one).downgraded(version)

    played(play, release="2.8" if version < 2 else None)


def test_three_members_share_a_generation_and_the_leader_gets_them_all() -> None:
    async def play(scene: Scene) -> None:
        one, two, three = [await scene.consumer(name) for name in ("one", "two", "three")]
        await one.enter()
        others = [await each.begin_join() for each in (two, three)]
        assert scene.cluster.group(GROUP).state == "PreparingRebalance"
        responses = await asyncio.gather(one.join(), *others)
        assert responses == [joined(one, one, one, two, three), joined(two, one), joined(three, one)]
        assert [each.generation for each in (one, two, three)] == [2, 2, 2]
        assert scene.cluster.group(GROUP).state == "CompletingRebalance"
        assert await scene.assigned(one, two, three) == [synced(b"one"), synced(b"two"), synced(b"three")]
        assert scene.cluster.group(GROUP).state == "Stable"
        assert await three.sync() == synced(b"three")

    played(play)


def test_members_vote_for_a_protocol_that_all_support() -> None:
    async def play(scene: Scene) -> None:
        one, two, three, other = [await scene.consumer(name) for name in ("one", "two", "three", "other")]
        one.protocols = [("range", b""), ("sticky", b"1"), ("robin", b"")]
        two.protocols = [("cooperative", b""), ("robin", b"2"), ("sticky", b"2")]
        three.protocols = [("sticky", b"3"), ("robin", b"")]
        await one.enter()
        responses = await asyncio.gather(*[await each.begin_join() for each in (two, three)], one.join())
        assert [each.protocol_name for each in responses] == ["sticky"] * 3
        assert [each.metadata for each in responses[2].members] == [b"1", b"2", b"3"]
        inconsistent = refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        assert await other.join() == inconsistent
        other.protocols = one.protocols
        assert await other.join(protocol_type="connect") == inconsistent

    played(play)


@pytest.mark.parametrize("row", VOTES, ids=lambda row: row.rpartition("\t")[2])
def test_a_tie_between_protocols_ends_as_in_kafka(row: str) -> None:
    """Also for names in one bucket of Java's map, and with more names than its first table holds."""
    members, chosen = row.split("\t")
    group = ClassicGroup(GROUP)
    for member_id, protocols in (each.split("=") for each in members.split(";")):
        names = [(name, b"") for name in protocols.split(",")]
        group.by_id[member_id] = ClassicMember(member_id, None, "client", "/127.0.0.1", names)
    assert group.voted() == chosen


def test_a_member_whose_metadata_changes_starts_a_rebalance() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two")
        await scene.stable(one, two)
        assert await two.join() == joined(two, one)
        assert two.generation == 2
        two.protocols = [("range", b"of more")]
        rejoin = await two.begin_join()
        assert await one.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        assert await one.sync() == SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        response = await one.join()
        assert [each.metadata for each in response.members] == [b"of one", b"of more"]
        await rejoin
        assert (one.generation, two.generation) == (3, 3)
        assert await one.join() == response  # asks again, as if it had not received the response

    played(play)


def test_a_member_that_joins_while_others_wait_for_the_assignment_restarts_the_rebalance() -> None:
    async def play(scene: Scene) -> None:
        one, two, three = [await scene.consumer(name) for name in ("one", "two", "three")]
        await one.enter()
        await asyncio.gather(await two.begin_join(), one.join())
        sync = await two.begin(SyncGroupRequest, two.sync())
        join = await three.begin_join()
        assert await sync == SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        await asyncio.gather(join, await two.begin_join(), one.join())
        assert [each.generation for each in (one, two, three)] == [3, 3, 3]

    played(play)


def test_a_leaving_member_causes_a_rebalance_and_the_next_member_leads() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two")
        await scene.stable(one, two)
        left = LeaveGroupResponse.MemberResponse(member_id=one.member_id, group_instance_id=None)
        assert await one.leave() == LeaveGroupResponse(members=[left])
        assert await two.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        assert await one.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
        left.error_code = ErrorCode.UNKNOWN_MEMBER_ID
        assert await one.leave() == LeaveGroupResponse(members=[left])
        assert await two.join() == joined(two, two, two)
        assert await two.sync((two, b"all")) == synced(b"all")
        await two.leave()
        assert scene.cluster.group(GROUP).state == "Empty"
        assert await two.join() == refused(ErrorCode.UNKNOWN_MEMBER_ID, two.member_id)

    played(play)


def test_several_members_leave_at_once_also_by_instance_id() -> None:
    async def play(scene: Scene) -> None:
        one, two, three = [
            await scene.consumer(name, name if name != "one" else None) for name in ("one", "two", "three")
        ]
        await scene.stable(one, two, three)
        kind, answer = LeaveGroupRequest.MemberIdentity, LeaveGroupResponse.MemberResponse
        members = [
            kind(member_id=one.member_id, reason="test"),
            kind(group_instance_id="two"),
            kind(member_id="other", group_instance_id="three"),
            kind(group_instance_id="four"),
        ]
        assert await one.connection.request(LeaveGroupRequest(group_id=GROUP, members=members)) == LeaveGroupResponse(
            members=[
                answer(member_id=one.member_id, group_instance_id=None),
                answer(group_instance_id="two"),
                answer(member_id="other", group_instance_id="three", error_code=ErrorCode.FENCED_INSTANCE_ID),
                answer(group_instance_id="four", error_code=ErrorCode.UNKNOWN_MEMBER_ID),
            ]
        )
        assert [each.instance_id for each in scene.cluster.group(GROUP).members] == ["three"]

    played(play)


def test_old_versions_of_leave_group_have_one_error_code() -> None:
    with KafkaCluster() as cluster:
        request = LeaveGroupRequest(group_id=GROUP, member_id="one")
        responses = asked(cluster.bootstrap_servers, request, version=2)
    assert responses == [LeaveGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)]


def test_a_member_expires_after_its_session_timeout() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two")
        await scene.stable(one)
        await two.join()
        two.session_ms = 50
        await asyncio.gather(await two.begin_join(), one.join())
        await scene.until(lambda group: group.state == "PreparingRebalance")
        assert [each.member_id for each in scene.cluster.group(GROUP).members] == [one.member_id]
        assert await one.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        assert await two.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
        assert await one.join() == joined(one, one, one)

    played(play)


def test_heartbeats_extend_a_session() -> None:
    async def play(scene: Scene) -> None:
        one = await scene.consumer("one")
        await scene.stable(one)
        before = scene.inside(lambda group: group.by_id[one.member_id].expiry.when())
        assert await one.heartbeat() == ErrorCode.NONE
        assert scene.inside(lambda group: group.by_id[one.member_id].expiry.when()) > before

    played(play)


def test_a_given_member_id_expires_if_it_never_joins() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two")
        await scene.stable(one)
        two.session_ms = 50
        await two.join()
        member_id = two.member_id
        await scene.cluster.group(GROUP).wait_stable_async(1)
        assert await two.join() == refused(ErrorCode.UNKNOWN_MEMBER_ID, member_id)

    played(play)


def test_members_that_do_not_rejoin_in_time_are_removed() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two")
        await scene.stable(one, two)
        scene.inside(short_rebalance)
        scene.cluster.group(GROUP).rebalance()
        assert await two.join() == joined(two, two, two)
        assert await one.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID

    played(play)


def test_members_that_do_not_sync_in_time_are_removed() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two")
        one.rebalance_ms = two.rebalance_ms = 500
        await scene.stable(one)
        await asyncio.gather(await two.begin_join(), one.join())
        assert await one.sync((one, b"")) == synced(b"")
        assert scene.cluster.group(GROUP).state == "Stable"
        await scene.until(lambda group: len(group.members) == 1)
        assert await one.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        assert await two.sync() == SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)

    played(play)


def test_a_restarted_static_member_replaces_itself_without_a_rebalance() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one", "first"), await scene.consumer("two", "second")
        await scene.stable(one, two)
        old = two.member_id
        again = await scene.consumer("again", "second")
        again.protocols = two.protocols
        assert await again.join() == joined(again, one)
        assert re.fullmatch("second-[0-9a-f-]{36}", again.member_id)
        assert (again.generation, again.member_id == old) == (2, False)
        assert await again.sync() == synced(b"two")
        assert await two.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
        assert await two.sync() == SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID)
        assert await two.join() == refused(ErrorCode.FENCED_INSTANCE_ID, old)
        assert await one.heartbeat() == ErrorCode.NONE
        assert await one.heartbeat(group_instance_id="third") == ErrorCode.UNKNOWN_MEMBER_ID

    played(play)


@pytest.mark.parametrize("version", [8, 9])
def test_a_restarted_static_leader_is_told_to_skip_the_assignment(version: int) -> None:
    async def play(scene: Scene) -> None:
        one = await scene.consumer("one", "first")
        await scene.stable(one)
        old, one.member_id = one.member_id, ""
        response = await one.join(version)
        assert one.member_id != old
        skips = joined(one, one, one, skips=True)
        assert response == (joined(one, old) if version == 8 else skips)  # KIP-814 has told it from version 9 on

    played(play)


def test_a_waiting_static_member_is_fenced_by_its_replacement() -> None:
    async def play(scene: Scene) -> None:
        one, two, again = [await scene.consumer(name, each) for name, each in zip("123", "abb", strict=True)]
        await scene.stable(one, two)
        old = two.member_id
        scene.cluster.group(GROUP).rebalance()
        join = await two.begin_join()
        replacing = await again.begin_join()
        assert await join == refused(ErrorCode.FENCED_INSTANCE_ID, old)
        await asyncio.gather(one.join(), replacing)
        sync = await again.begin(SyncGroupRequest, again.sync())
        again.member_id = ""
        await asyncio.gather(await (await scene.consumer("4", "b")).begin_join(), one.join())
        assert await sync == SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID)

    played(play)


def test_a_static_member_stays_until_its_session_ends() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two", "second")
        await scene.stable(one, two)
        scene.inside(short_rebalance)
        scene.cluster.group(GROUP).rebalance()
        assert await one.join() == joined(one, one, one, two)

    played(play)


def test_requests_with_a_wrong_generation_or_member_are_refused() -> None:
    async def play(scene: Scene) -> None:
        one = await scene.consumer("one")
        await scene.stable(one)
        assert await one.heartbeat(generation_id=9) == ErrorCode.ILLEGAL_GENERATION
        assert await one.heartbeat(member_id="other") == ErrorCode.UNKNOWN_MEMBER_ID
        assert await one.heartbeat(group_id="other") == ErrorCode.UNKNOWN_MEMBER_ID
        assert await one.heartbeat(group_id="") == ErrorCode.INVALID_GROUP_ID
        for code, changes in (
            (ErrorCode.ILLEGAL_GENERATION, {"generation_id": 9}),
            (ErrorCode.UNKNOWN_MEMBER_ID, {"member_id": "other"}),
            (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, {"protocol_type": "connect"}),
            (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, {"protocol_name": "sticky"}),
            (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, {"protocol_name": None, "group_id": ""}),
        ):
            assert await one.sync(**changes) == SyncGroupResponse(error_code=code), changes

    played(play)


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        (ErrorCode.INVALID_GROUP_ID, {"group_id": ""}),
        (ErrorCode.INVALID_SESSION_TIMEOUT, {"session_timeout_ms": 0}),
        (ErrorCode.INVALID_SESSION_TIMEOUT, {"session_timeout_ms": 1_800_001}),
        (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, {"protocols": []}),
        (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, {"protocol_type": ""}),
        (ErrorCode.UNKNOWN_MEMBER_ID, {"member_id": "other"}),
    ],
)
def test_invalid_join_requests_are_refused(code: ErrorCode, changes: dict[str, Any]) -> None:
    async def play(scene: Scene) -> None:
        one = await scene.consumer("one")
        response = await one.join(**changes)
        assert response == refused(code, changes.get("member_id", ""))

    played(play)


def test_a_given_member_id_is_not_for_static_members() -> None:
    async def play(scene: Scene) -> None:
        one = await scene.consumer("one")
        await one.join()
        assert await one.join(group_instance_id="first") == refused(ErrorCode.UNKNOWN_SERVER_ERROR)

    played(play)


def test_repeated_protocols_count_once() -> None:
    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two")
        one.protocols = [("range", b"first"), ("range", b"last")]
        await one.enter()
        first, leading = await asyncio.gather(await two.begin_join(), one.join())
        assert (first.protocol_name, leading.members[0].metadata) == ("range", b"last")

    played(play)


def test_groups_are_described_and_listed() -> None:
    kind = DescribeGroupsResponse.DescribedGroup
    listed = ListGroupsResponse.ListedGroup

    async def play(scene: Scene) -> None:
        one, two = await scene.consumer("one"), await scene.consumer("two", "second")
        await scene.stable(one, two)
        scene.cluster.commit("simple", {})
        members = [
            DescribeGroupsResponse.DescribedGroupMember(
                member_id=each.member_id,
                group_instance_id=each.instance_id,
                client_id=each.name,
                client_host="/127.0.0.1",
                member_metadata=b"of " + each.name.encode(),
                member_assignment=each.name.encode(),
            )
            for each in (one, two)
        ]
        ask = one.connection.request
        request = DescribeGroupsRequest(groups=[GROUP, "simple", "none"], include_authorized_operations=True)
        stable = kind(
            group_id=GROUP,
            group_state="Stable",
            protocol_type="consumer",
            protocol_data="range",
            members=members,
            authorized_operations=3400,
        )
        simple = kind(group_id="simple", group_state="Empty", authorized_operations=3400)
        dead = kind(group_id="none", group_state="Dead", error_code=69, error_message="Group none not found.")
        assert await ask(request) == DescribeGroupsResponse(groups=[stable, simple, dead])
        scene.cluster.group(GROUP).rebalance()
        for member in members:
            member.member_metadata = b""
        stable.group_state, stable.protocol_data = "PreparingRebalance", ""
        dead = kind(group_id="none", group_state="Dead", authorized_operations=3400)
        assert await ask(request, 5) == DescribeGroupsResponse(groups=[stable, simple, dead])

        rebalancing = listed(
            group_id=GROUP, protocol_type="consumer", group_state="PreparingRebalance", group_type="classic"
        )
        empty = listed(group_id="simple", group_state="Empty", group_type="classic")
        for filtered, groups in (
            (ListGroupsRequest(), [rebalancing, empty]),
            (ListGroupsRequest(states_filter=["empty ", "Stable"]), [empty]),
            (ListGroupsRequest(types_filter=["Classic"]), [rebalancing, empty]),
            (ListGroupsRequest(types_filter=["consumer"]), []),
        ):
            assert await ask(filtered) == ListGroupsResponse(groups=groups)

    played(play)


def test_a_group_of_the_cluster_is_observed_rebalanced_and_expired() -> None:
    async def play(scene: Scene) -> None:
        group = scene.cluster.group(GROUP)
        assert (group.id, group.state, group.members, repr(group)) == (GROUP, "Dead", [], "<Group 'billing'>")
        one, two = await scene.consumer("one"), await scene.consumer("two", "second")
        await scene.stable(one, two)
        await group.wait_stable_async(2)
        assert group.members == [
            GroupMember(one.member_id, None, "one", "/127.0.0.1", []),
            GroupMember(two.member_id, "second", "two", "/127.0.0.1", []),
        ]
        group.rebalance()
        assert await one.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        group.expire("second")
        assert await one.join() == joined(one, one, one)
        group.expire(group.members[0])
        group.wait_stable(0)
        assert group.state == "Empty"
        with pytest.raises(ValueError, match="group 'billing' has no member 'second'"):
            group.expire("second")
        with pytest.raises(ValueError, match="there is no group 'other'; wait for its members with wait_stable"):
            scene.cluster.group("other").rebalance()
        with pytest.raises(TimeoutError, match="group 'billing' does not have 2 stable members after 0 s; it is Empty"):
            group.wait_stable(2, timeout=0)

    played(play)


def test_partitions_of_consumers_are_decoded() -> None:
    kind = ConsumerProtocolAssignment.TopicPartition
    assigned = [kind(topic="orders", partitions=[1, 0]), kind(topic="bills", partitions=[0])]

    async def play(scene: Scene) -> None:
        one = await scene.consumer("one")
        await one.enter()
        await one.sync((one, write_versioned(ConsumerProtocolAssignment(assigned_partitions=assigned), 1)))
        [member] = scene.cluster.group(GROUP).members
        assert member.assignment == [("bills", 0), ("orders", 0), ("orders", 1)]

    played(play)


def test_a_moved_coordinator_answers_waiting_and_later_requests() -> None:
    async def play(scene: Scene) -> None:
        found = scene.cluster._state.coordinator(GROUP)
        one, two = await scene.consumer("one"), await scene.consumer("two")
        await scene.stable(one)
        join = await two.begin_join()
        member_id = two.member_id
        scene.cluster.move_coordinator(GROUP, 3 - found)
        assert await join == refused(ErrorCode.NOT_COORDINATOR, member_id)
        assert await one.heartbeat() == ErrorCode.NOT_COORDINATOR
        assert await one.join() == refused(ErrorCode.NOT_COORDINATOR, one.member_id)

    with pytest.raises(ValueError, match="node_id: broker 9 is not running"), KafkaCluster() as cluster:
        cluster.move_coordinator(GROUP, 9)
    played(play, brokers=2)
