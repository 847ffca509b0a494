"""Conversations about groups and committed offsets."""

from __future__ import annotations

from typing import Any

from kafka_messages import (
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    ListGroupsRequest,
)
from kafka_messages.protocol import ErrorCode

from .asked import beat, commit, committed, delete, heartbeat, join, leave, metadata, sync
from .sides import Side


async def coordinators(side: Side) -> None:
    for kind in (0, 1, 2, 3, -1):
        for key in (side.name, ""):
            await side.ask(
                f"type {kind} of {'a name' if key else 'nothing'}",
                FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key]),
            )
    if await side.version(FindCoordinatorRequest()) >= 4:
        await side.ask("of none", FindCoordinatorRequest(key_type=0))
        await side.ask("of three", FindCoordinatorRequest(key_type=0, coordinator_keys=["a", "b", "a"]))


async def unknown_group(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    for label, given in (("unknown", f"{side.name}-nobody"), ("empty", "")):
        await side.ask(label, heartbeat(given, "member", 1))
        await side.ask(f"{label} static", heartbeat(given, "member", 1, group_instance_id="one"))
        await side.ask(label, sync(given, "member", 1))
        await side.ask(label, leave(given, "member"))
        await side.ask(f"{label} two", leave(given, "member", "another"))
        await side.ask(f"{label} instance", leave(given, "", instance_id="one"))
        await side.ask(label, join(given, "member"))
        await side.ask(
            f"{label} generation", commit(side, given, name, 1, member_id="member", generation_id_or_member_epoch=1)
        )
        await side.ask(f"{label} member", commit(side, given, name, 1, member_id="member"))
        await side.ask(label, DescribeGroupsRequest(groups=[given], include_authorized_operations=True))
        await side.ask(label, committed(side, given, topics={name: [0]}))
        await side.ask(f"{label} all", committed(side, f"{given}-nobody"))
    if await side.version(leave(group)) >= 3:
        await side.ask("nobody", leave(group))
    await side.ask("none", DescribeGroupsRequest())
    await side.ask("two", DescribeGroupsRequest(groups=["", f"{side.name}-nobody", f"{side.name}-nobody"]))
    for number, timeout in enumerate((0, -1, 1_800_001)):
        await side.ask(f"session timeout {number}", join(group, session_timeout_ms=timeout))
    await side.ask("no protocols", join(group, protocols={}))
    await side.ask("no protocol type", join(group, protocol_type=""))
    await side.ask("afterwards", DescribeGroupsRequest(groups=[group]))


async def listed_groups(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    await side.tell(commit(side, group, name, 1))
    await joined(side, f"{side.name}-classic")
    await side.tell(beat(side, f"{side.name}-consumer", "member", 0, name))
    only = side.name
    await side.ask("all", ListGroupsRequest(), only=only)
    for number, states in enumerate((["Empty"], ["empty", "STABLE"], ["nonsense"], ["Dead"])):
        await side.ask(f"states {number}", ListGroupsRequest(states_filter=states), only=only)
    for number, types in enumerate((["classic"], ["Consumer"], ["nonsense"], ["share"], ["Unknown"])):
        await side.ask(f"types {number}", ListGroupsRequest(types_filter=types), only=only)
    await side.ask("classic and empty", ListGroupsRequest(states_filter=["Empty"], types_filter=["classic"]), only=only)


async def joined(side: Side, group: str, **fields: Any) -> tuple[str, int]:
    """Let a member join a group and get its assignment, without comparing; return its id and the generation."""
    made = await side.tell(join(group, **fields))
    if made.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        made = await side.tell(join(group, made.member_id, **fields))
    instance = fields.get("group_instance_id")
    await side.tell(sync(group, made.member_id, made.generation_id, group_instance_id=instance))
    return made.member_id, made.generation_id


async def one_member(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    made = await side.ask("new", join(group))
    if made.error_code:
        # The broker answers the join before it can describe the group.
        await side.until(DescribeGroupsRequest(groups=[group]), lambda it: not it.groups[0].error_code)
        await side.ask("pending", DescribeGroupsRequest(groups=[group]))
        await side.ask("pending", heartbeat(group, made.member_id, 0))
        await side.ask(
            "pending", commit(side, group, name, 1, member_id=made.member_id, generation_id_or_member_epoch=0)
        )
        made = await side.ask("with id", join(group, made.member_id))
    id, generation = made.member_id, made.generation_id
    await side.ask("before sync", heartbeat(group, id, generation))
    await side.ask("before sync", DescribeGroupsRequest(groups=[group]))
    own = {"member_id": id, "generation_id_or_member_epoch": generation}
    await side.ask("before sync", commit(side, group, name, 1, **own))
    await side.ask("wrong generation", sync(group, id, generation + 1))
    await side.ask("wrong member", sync(group, "member", generation))
    await side.ask("wrong type", sync(group, id, generation, protocol_type="connect"))
    await side.ask("wrong name", sync(group, id, generation, protocol_name="sticky"))
    await side.ask("no type", sync(group, id, generation, protocol_type=None, protocol_name=None))
    await side.ask("again", sync(group, id, generation))
    await side.ask("stable", DescribeGroupsRequest(groups=[group], include_authorized_operations=True))
    await side.ask("stable", heartbeat(group, id, generation))
    for label, member, number in (("member", "member", generation), ("no member", "", generation)):
        await side.ask(label, heartbeat(group, member, number))
        await side.ask(label, commit(side, group, name, 1, member_id=member, generation_id_or_member_epoch=number))
        await side.ask(label, leave(group, member))
    for number in (-1, 0, generation + 1):
        await side.ask(f"generation {number}", heartbeat(group, id, number))
        await side.ask(
            f"generation {number}", commit(side, group, name, 1, member_id=id, generation_id_or_member_epoch=number)
        )
    await side.ask("without member", commit(side, group, name, 1))
    await side.ask("unknown instance", heartbeat(group, id, generation, group_instance_id="one"))
    await side.ask("unknown instance", commit(side, group, name, 1, **own, group_instance_id="one"))
    await side.ask("valid", commit(side, group, name, 5, 6, **own))
    await side.ask("valid", committed(side, group))
    await side.ask("of a member", committed(side, group, topics={name: [0]}, member_id=id, member_epoch=generation))
    await side.ask("other protocol type", join(group, protocol_type="connect"))
    await side.ask("other protocols", join(group, protocols={"sticky": b""}))
    await side.ask("unknown member", join(group, "member"))
    await side.ask("unknown member with other type", join(group, "member", protocol_type="connect"))
    made = await side.ask("the leader again", join(group, id))
    await side.ask("after the leader", heartbeat(group, id, made.generation_id))
    await side.ask("after the leader", sync(group, id, made.generation_id, assignments={id: b"new", "member": b"x"}))
    await side.ask("after leader's sync", sync(group, id, made.generation_id, assignments={}))
    await side.ask("consumer", beat(side, group, "new member", 0, name))
    await side.ask("leaves", leave(group, id))
    await side.ask("left", heartbeat(group, id, made.generation_id))
    await side.ask("left", DescribeGroupsRequest(groups=[group]))
    await side.ask("leaves again", leave(group, id))
    await side.ask("after all left", commit(side, group, name, 7))
    await side.ask("after all left, a member", commit(side, group, name, 8, member_id="member"))
    await side.ask(
        "after all left, a generation",
        commit(side, group, name, 8, member_id=id, generation_id_or_member_epoch=made.generation_id),
    )
    await side.ask("after all left", committed(side, group))
    await side.ask(
        "again after all left", join(group, protocols={"sticky": b"1", "range": b"2"}, protocol_type="other")
    )


async def two_members(side: Side) -> None:
    group, other = f"{side.name}-group", Side(side.port, side.name, side.level)
    protocols = {"range": b"a", "sticky": b"b"}
    first, generation = await joined(side, group, protocols=protocols)
    made = (
        await other.ask("second", join(group, protocols={"sticky": b"c", "x": b"d"}))
        if await side.version(join(group)) >= 4
        else None
    )
    second = made.member_id if made else ""
    waiting = other.start("second with id", join(group, second, protocols={"sticky": b"c", "x": b"d"}))
    await side.until(heartbeat(group, first, generation), lambda it: it.error_code)
    await side.ask("rebalancing", heartbeat(group, first, generation))
    await side.ask("rebalancing", sync(group, first, generation, protocol_name="range"))
    leader = await side.ask("first again", join(group, first, protocols=protocols))
    follower = await waiting
    second, generation = follower.member_id, leader.generation_id
    following = other.start("follower", sync(group, second, generation, protocol_name="sticky", assignments={}))
    given = {first: b"one", second: b"two"}
    await side.ask("leader", sync(group, first, generation, protocol_name="sticky", assignments=given))
    await following
    await other.ask("stable", heartbeat(group, second, generation))
    await other.ask("follower again", join(group, second, protocols={"sticky": b"c", "x": b"d"}))
    await side.ask("two", leave(group, second, "member"))
    await side.ask("after leave", heartbeat(group, first, generation))
    await side.ask("after leave, second", heartbeat(group, second, generation))
    side.answers |= {f"{label} of the second": answer for label, answer in other.answers.items()}
    await other.close()


async def static_member(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    one: dict[str, Any] = {"group_instance_id": "one"}
    made = await side.ask("new", join(group, **one))
    if (await side.version(join(group))) < 5:
        return
    id, generation = made.member_id, made.generation_id
    await side.ask("new", sync(group, id, generation, **one))
    again = await side.ask("restarted", join(group, **one))
    await side.ask("restarted", sync(group, again.member_id, again.generation_id, **one))
    await side.ask("fenced", heartbeat(group, id, generation, **one))
    await side.ask("fenced", join(group, id, **one))
    await side.ask("fenced", sync(group, id, generation, **one))
    old = {"member_id": id, "generation_id_or_member_epoch": generation}
    await side.ask("fenced", commit(side, group, name, 1, **old, **one))
    await side.ask("fenced", leave(group, id, instance_id="one"))
    await side.ask("without instance", heartbeat(group, again.member_id, again.generation_id))
    await side.ask("other instance", heartbeat(group, again.member_id, again.generation_id, group_instance_id="two"))
    await side.ask("other instance", leave(group, again.member_id, instance_id="two"))
    await side.ask("described", DescribeGroupsRequest(groups=[group]))
    changed = await side.ask("changed", join(group, **one, protocols={"sticky": b"new"}))
    await side.ask("changed", sync(group, changed.member_id, changed.generation_id, **one, protocol_name="sticky"))
    if await side.version(leave(group)) >= 3:
        await side.ask("removed", leave(group, "", "", instance_id="one"))


async def commits(side: Side) -> None:
    name, other, group = await side.topic(), await side.topic("another"), f"{side.name}-group"
    await side.ask("simple", commit(side, group, name, 3, 4, part={"committed_metadata": "note"}))
    await side.ask("epoch", commit(side, group, other, 5, part={"committed_leader_epoch": 2}))
    await side.ask("null metadata", commit(side, group, other, 0, first=1, part={"committed_metadata": None}))
    await side.ask("long metadata", commit(side, group, name, 9, part={"committed_metadata": "n" * 4097}))
    await side.ask("longest metadata", commit(side, f"{group}-long", name, 9, part={"committed_metadata": "n" * 4096}))
    await side.ask(
        "long metadata of wide characters", commit(side, group, name, 9, part={"committed_metadata": "ä" * 4000})
    )
    await side.ask("negative", commit(side, f"{group}-negative", name, -1, -2))
    await side.ask("negative", committed(side, f"{group}-negative"))
    await side.ask("unknown topic", commit(side, group, f"{side.name}-unknown", 1))
    await side.ask("unknown partition", commit(side, group, name, 1, 2, first=1))
    await side.ask("negative partition", commit(side, group, name, 1, first=-1))
    await side.ask("empty name", commit(side, group, "", 1))
    await side.ask("no partitions", commit(side, group, name))
    await side.ask("no topics", commit(side, group, name, topics=[]))
    await side.ask("no topics of a new group", commit(side, f"{group}-new", name, topics=[]))
    await side.ask("empty group", commit(side, "", name, 1))
    await side.ask("empty group", committed(side, "", topics={name: [0]}))
    await side.ask("new group", DescribeGroupsRequest(groups=[f"{group}-new"]))
    await side.ask("generation", commit(side, group, name, 1, generation_id_or_member_epoch=1))
    await side.ask("member", commit(side, group, name, 1, member_id="member"))
    await side.ask("instance", commit(side, group, name, 1, group_instance_id="one"))
    twice = commit(side, group, other, 10, 11)
    twice.topics[0].partitions[1].partition_index = 0
    await side.ask("a partition twice", twice)
    await side.ask("retention", commit(side, group, name, 3, retention_time_ms=1))
    places: dict[str, dict[str, list[int]] | None]
    places = {"all": None, "some": {name: [1, 0]}, "no topics": {}, "no partitions": {name: []}}
    for label, asked in places.items():
        await side.ask(label, committed(side, group, topics=asked))
    await side.ask("unknown places", committed(side, group, topics={name: [2, -1, 1], f"{side.name}-unknown": [0]}))
    await side.ask("one twice", committed(side, group, topics={other: [0, 0]}))
    await side.ask("stable", committed(side, group, topics={name: [0]}, require_stable=True))
    await side.ask("with member", committed(side, group, topics={name: [0]}, member_id="member", member_epoch=1))
    await side.ask("two groups", committed(side, f"{group}-long", f"{group}-nobody", group, topics={other: [0]}))
    await side.ask("a group twice", committed(side, group, group, topics={other: [0]}))
    if await side.version(committed(side)) >= 8:
        await side.ask("no groups", committed(side))
    await side.ask("group", DescribeGroupsRequest(groups=[group]))
    await side.tell(delete(ids=[side.ids[other]]))
    await side.until(metadata(other, allow_auto_topic_creation=False), lambda it: it.topics[0].error_code)
    await side.until(committed(side, group), lambda it: len(it.groups[0].topics) == 1, version=9)
    await side.ask("deleted topic", committed(side, group, topics={other: [0]}))
    await side.ask("without deleted topic", committed(side, group))


async def consumer_group(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    await side.ask("unknown member", beat(side, group, "member", 1))
    await side.ask("unknown leaves", beat(side, group, "member", -1))
    await side.ask("empty group", beat(side, "", "member", 0, name))
    await side.ask("no topics", beat(side, group, "member", 0))
    await side.ask("unknown topic", beat(side, f"{group}-unknown", "member", 0, f"{side.name}-unknown"))
    joins: dict[str, dict[str, Any]] = {
        "null topics": {"subscribed_topic_names": None},
        "no timeout": {"rebalance_timeout_ms": -1},
        "zero timeout": {"rebalance_timeout_ms": 0},
        "owned": {"owned": {name: [0]}},
        "null owned": {"topic_partitions": None},
        "assignor": {"server_assignor": "nonsense"},
        "empty assignor": {"server_assignor": ""},
        "range": {"server_assignor": "range"},
        "instance": {"instance_id": ""},
        "rack": {"rack_id": ""},
        "given rack": {"rack_id": "rack"},
        "regex": {"subscribed_topic_regex": f"{side.name}.*"},
        "wrong regex": {"subscribed_topic_regex": "("},
        "empty regex": {"subscribed_topic_regex": ""},
    }
    for label, fields in joins.items():
        await side.ask(label, beat(side, f"{group}-{label}", "member", 0, name, **fields))
    await side.ask("epoch -3", beat(side, group, "member", -3))
    await side.ask("static leaves without instance", beat(side, group, "member", -2))
    made = await side.ask("first", beat(side, f"{group}-1", "member", 0, name))
    epoch = made.member_epoch
    one = f"{group}-1"
    await side.ask("again", beat(side, one, "member", epoch))
    await side.ask("owns", beat(side, one, "member", epoch, owned={name: [0, 1]}))
    await side.ask(
        "full",
        beat(
            side, one, "member", epoch, rebalance_timeout_ms=60_000, subscribed_topic_names=[name], owned={name: [0, 1]}
        ),
    )
    await side.ask("rejoins", beat(side, one, "member", 0, name))
    await side.ask("too high", beat(side, one, "member", epoch + 1))
    await side.ask("too low", beat(side, one, "member", epoch - 1))
    await side.ask("another", beat(side, one, "another", epoch))
    own = {"member_id": "member", "generation_id_or_member_epoch": epoch}
    await side.ask("valid", commit(side, one, name, 5, **own))
    await side.ask(
        "older epoch", commit(side, one, name, 6, member_id="member", generation_id_or_member_epoch=epoch - 1)
    )
    await side.ask(
        "newer epoch", commit(side, one, name, 6, member_id="member", generation_id_or_member_epoch=epoch + 1)
    )
    await side.ask(
        "unknown member", commit(side, one, name, 6, member_id="another", generation_id_or_member_epoch=epoch)
    )
    await side.ask("no member", commit(side, one, name, 6))
    for label, fields in {
        "no member": {},
        "member": {"member_id": "member", "member_epoch": epoch},
        "newer": {"member_id": "member", "member_epoch": epoch + 1},
        "older": {"member_id": "member", "member_epoch": epoch - 1},
        "unknown": {"member_id": "another", "member_epoch": epoch},
        "only epoch": {"member_epoch": epoch},
        "only member": {"member_id": "member"},
    }.items():
        await side.ask(label, committed(side, one, topics={name: [0]}, **fields))
    await side.ask("as classic", DescribeGroupsRequest(groups=[one], include_authorized_operations=True))
    await side.ask("as classic", join(one))
    await side.ask("as classic", sync(one, "member", epoch))
    await side.ask("as classic", heartbeat(one, "member", epoch))
    await side.ask("as classic unknown", leave(one, "nobody"))
    await side.ask("leaves", beat(side, one, "member", -1))
    await side.ask("leaves again", beat(side, one, "member", -1))
    await side.ask("left", beat(side, one, "member", epoch))
    await side.ask("empty", commit(side, one, name, 7))
    await side.ask("empty", DescribeGroupsRequest(groups=[one]))


async def two_consumers(side: Side) -> None:
    name, group = await side.topic(partitions=3), f"{side.name}-group"
    first = await side.ask("first", beat(side, group, "a", 0, name))
    await side.ask("first owns", beat(side, group, "a", first.member_epoch, owned={name: [0, 1, 2]}))
    second = await side.ask("second", beat(side, group, "b", 0, name))
    revoked = await side.ask("first is told", beat(side, group, "a", first.member_epoch, owned={name: [0, 1, 2]}))
    await side.ask("second waits", beat(side, group, "b", second.member_epoch))
    kept = {name: [] if revoked.assignment is None else list(revoked.assignment.topic_partitions[0].partitions)}
    done = await side.ask("first gives up", beat(side, group, "a", first.member_epoch, owned=kept))
    await side.ask("second gets", beat(side, group, "b", second.member_epoch, owned={}))
    await side.ask("first is stable", beat(side, group, "a", done.member_epoch))
    await side.ask("first with its last epoch", beat(side, group, "a", first.member_epoch, owned=kept))
    static = await side.ask("static", beat(side, group, "c", 0, name, instance_id="one"))
    await side.ask("static twice", beat(side, group, "d", 0, name, instance_id="one"))
    await side.ask("static of another", beat(side, group, "d", static.member_epoch, instance_id="one"))
    await side.ask("static of nobody", beat(side, group, "c", static.member_epoch, instance_id="two"))
    await side.ask("static pauses", beat(side, group, "c", -2, instance_id="one"))
    await side.ask("static returns", beat(side, group, "d", 0, name, instance_id="one"))
    await side.ask("static fenced", beat(side, group, "c", static.member_epoch, instance_id="one"))
    await side.ask("static leaves", beat(side, group, "d", -1, instance_id="one"))


GROUPS = (
    coordinators,
    unknown_group,
    listed_groups,
    one_member,
    two_members,
    static_member,
    commits,
    consumer_group,
    two_consumers,
)
