"""Assignors of consumer groups: uniform and range."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages_testkit.state.consumer_assignor import ASSIGNORS, Targets, range_, uniform

ORDERS, PAID, LATE = (UUID(int=number) for number in (1, 2, 3))
MEMBERS = ("one", "two", "three", "four")
COUNTS = st.dictionaries(st.sampled_from([ORDERS, PAID, LATE]), st.integers(1, 7))
SUBSCRIPTIONS = st.dictionaries(
    st.sampled_from(MEMBERS), st.frozensets(st.sampled_from([ORDERS, PAID, LATE])), max_size=4
)


def parts(topic: UUID, *indexes: int) -> set[tuple[UUID, int]]:
    return {(topic, index) for index in indexes}


def before(members: Any, topics: Any) -> Targets:
    """Return the assignment to members that may have left since then, of topics that may have shrunk."""
    return uniform(members, {topic: count + 1 for topic, count in topics.items()}, {})


@pytest.mark.parametrize("name", ASSIGNORS)
@given(members=SUBSCRIPTIONS, topics=COUNTS, earlier=SUBSCRIPTIONS)
def test_each_partition_has_one_owner_that_subscribes(name: str, members: Any, topics: Any, earlier: Any) -> None:
    targets = ASSIGNORS[name](members, topics, before(earlier, topics))
    assert targets.keys() == members.keys()
    assert all(topic in members[member] for member, owned in targets.items() for topic, _ in owned)
    wanted = frozenset().union(*members.values())
    expected = sorted((topic, index) for topic in topics if topic in wanted for index in range(topics[topic]))
    assert sorted(each for owned in targets.values() for each in owned) == expected


@given(members=SUBSCRIPTIONS, topics=COUNTS, earlier=SUBSCRIPTIONS)
def test_no_single_move_balances_better(members: Any, topics: Any, earlier: Any) -> None:
    targets = uniform(members, topics, before(earlier, topics))
    for owned in targets.values():
        for topic, _ in owned:
            others = (len(targets[member]) for member in members if topic in members[member])
            assert min(others) >= len(owned) - 1


@given(members=SUBSCRIPTIONS, topics=COUNTS, earlier=SUBSCRIPTIONS)
def test_a_balanced_assignment_stays(members: Any, topics: Any, earlier: Any) -> None:
    targets = uniform(members, topics, before(earlier, topics))
    assert uniform(members, topics, targets) == targets


@given(st.integers(1, 4), st.integers(0, 20), st.integers(1, 4))
def test_a_change_of_members_moves_no_more_partitions_than_needed(count: int, partitions: int, later: int) -> None:
    members, others = ({each: {ORDERS} for each in MEMBERS[:number]} for number in (count, later))
    old = uniform(members, {ORDERS: partitions}, {})
    new = uniform(others, {ORDERS: partitions}, old)
    kept = sum(len(old.get(member, set()) & owned) for member, owned in new.items())
    assert kept == sum(min(len(old.get(member, ())), len(owned)) for member, owned in new.items())


def test_uniform_moves_the_last_partitions_to_a_new_member() -> None:
    old = {"one": parts(ORDERS, 0, 1, 2, 3)}
    members = {"one": {ORDERS}, "two": {ORDERS}}
    assert uniform(members, {ORDERS: 4}, old) == {"one": parts(ORDERS, 0, 1), "two": parts(ORDERS, 2, 3)}


def test_uniform_balances_members_with_different_topics() -> None:
    members = {"one": {ORDERS, PAID}, "two": {ORDERS}}
    assert uniform(members, {ORDERS: 2, PAID: 2}, {}) == {"one": parts(PAID, 0, 1), "two": parts(ORDERS, 0, 1)}


def test_range_gives_the_same_partitions_of_each_topic() -> None:
    members = {"one": {ORDERS, PAID}, "two": {ORDERS, PAID}}
    assert range_(members, {ORDERS: 3, PAID: 3}, {}) == {
        "one": parts(ORDERS, 0, 1) | parts(PAID, 0, 1),
        "two": parts(ORDERS, 2) | parts(PAID, 2),
    }
