"""Keyed collections: list operations keep ``find`` correct."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import struct
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import kafka_messages.json
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from kafka_messages import DecodeError, IncrementalAlterConfigsRequest, MetadataResponse
from kafka_messages.messages.incremental_alter_configs_request import (
    AlterConfigsResource,
    AlterConfigsResourceCollection,
)
from kafka_messages.messages.metadata_response import MetadataResponseTopic as Topic
from kafka_messages.messages.metadata_response import MetadataResponseTopicCollection as Topics

# --- changes -----------------------------------------------------------------------------------------------------------

KEYS = ("a", "b", "c", None)
elements = st.builds(Topic, name=st.sampled_from(KEYS), error_code=st.integers(0, 1))
"""Elements with many equal keys."""
several = st.lists(elements, max_size=4)
positions = st.integers(-7, 7)
slices = st.builds(slice, positions | st.none(), positions | st.none(), st.sampled_from((None, 1, 2, -1, -2)))
containers = st.sampled_from((list, tuple, iter, Topics))


class Changes(RuleBasedStateMachine):
    """Random operations on a collection and on a plain list of the same objects."""

    def __init__(self) -> None:
        super().__init__()
        self.topics, self.model = Topics(), list[Topic]()
        self.looks = False

    def same(self, operation: Callable[[Any], object]) -> None:
        results = []
        for target in (self.topics, self.model):
            try:
                results.append(operation(target))
            except (IndexError, ValueError) as error:
                results.append((type(error), str(error).replace("Topics", "list")))
        assert results[0] == results[1]
        assert list(map(id, self.topics)) == list(map(id, self.model))

    @initialize(topics=several)
    def made_from_outside(self, topics: list[Topic]) -> None:
        """Append elements as a native codec does, without calling the constructor."""
        self.topics = Topics.__new__(Topics)
        list.extend(self.topics, topics)
        self.model = topics

    @rule()
    def find(self) -> None:
        for key in KEYS:
            wanted = [topic for topic in self.model if topic.name == key]
            assert list(map(id, self.topics.find_all(key))) == list(map(id, wanted))
            assert self.topics.find(key) is (wanted[0] if wanted else None)

    @rule(looks=st.booleans())
    def look_after_each_change(self, looks: bool) -> None:
        """Look up after each change, or only after several changes."""
        self.looks = looks

    @invariant()
    def changes_are_seen(self) -> None:
        if self.looks:
            self.find()

    @rule(topic=elements, name=st.sampled_from(("append", "add")))
    def append(self, topic: Topic, name: str) -> None:
        getattr(self.topics, name)(topic)
        self.model.append(topic)

    @rule(topics=several, container=containers)
    def extend(self, topics: list[Topic], container: Callable[[list[Topic]], Any]) -> None:
        self.same(lambda target: target.extend(container(topics)))

    @rule(topics=several, container=containers)
    def add_in_place(self, topics: list[Topic], container: Callable[[list[Topic]], Any]) -> None:
        before = self.topics
        self.topics += container(topics)
        self.model += topics
        assert self.topics is before

    @rule()
    def extend_by_itself(self) -> None:
        if len(self.model) < 10:
            self.same(lambda target: target.extend(target))

    @rule(position=positions, topic=elements)
    def insert(self, position: int, topic: Topic) -> None:
        self.same(lambda target: target.insert(position, topic))

    @rule(position=positions)
    def pop(self, position: int) -> None:
        self.same(lambda target: target.pop(position))

    @rule()
    def pop_last(self) -> None:
        self.same(lambda target: target.pop())

    @rule(position=positions)
    def remove_object(self, position: int) -> None:
        """Remove an object by identity; a list removes the first equal element."""
        if -len(self.model) <= position < len(self.model):
            topic = self.model[position]
            self.topics.remove(topic)
            del self.model[[each is topic for each in self.model].index(True)]

    @rule(topic=elements)
    def remove_equal(self, topic: Topic) -> None:
        self.same(lambda target: target.remove(topic))

    @rule()
    def clear(self) -> None:
        self.same(lambda target: target.clear())

    @rule(reverse=st.booleans())
    def sort(self, reverse: bool) -> None:
        self.same(lambda target: target.sort(key=lambda topic: topic.error_code, reverse=reverse))

    @rule()
    def sort_fails(self) -> None:
        for target in (self.topics, self.model):
            if len(self.model) > 1:
                with pytest.raises(TypeError, match=r"^'<' not supported between instances of"):
                    target.sort()  # type: ignore[call-arg]

    @rule()
    def reverse(self) -> None:
        self.same(lambda target: target.reverse())

    @rule(position=positions, topic=elements)
    def set_item(self, position: int, topic: Topic) -> None:
        self.same(lambda target: target.__setitem__(position, topic))

    @rule(part=slices, topics=several, container=containers)
    def set_slice(self, part: slice, topics: list[Topic], container: Callable[[list[Topic]], Any]) -> None:
        self.same(lambda target: target.__setitem__(part, container(topics)))

    @rule(position=positions | slices)
    def delete(self, position: int | slice) -> None:
        self.same(lambda target: target.__delitem__(position))

    @rule(times=st.integers(-1, 2))
    def repeat(self, times: int) -> None:
        if len(self.model) < 10:
            before = self.topics
            self.topics *= times
            self.model *= times
            assert self.topics is before

    @rule(position=positions, key=st.sampled_from(KEYS))
    def change_key(self, position: int, key: str | None) -> None:
        if -len(self.model) <= position < len(self.model):
            self.topics[position].name = key
            self.topics.reindex()

    @rule(copied=st.sampled_from((copy.copy, Topics.copy, Topics)))
    def go_on_with_a_copy(self, copied: Callable[[Topics], Topics]) -> None:
        self.topics = copied(self.topics)
        assert type(self.topics) is Topics

    def teardown(self) -> None:
        assert self.topics == self.model
        self.find()


TestChanges = Changes.TestCase


def test_every_mutating_list_method_is_overridden() -> None:
    only_read = {"count", "index", "__contains__", "__iter__", "__len__", "__reversed__", "__getitem__", "__sizeof__"}
    only_read |= {"__add__", "__mul__", "__rmul__", "__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"}
    about_the_class = {"__new__", "__init__", "__doc__", "__hash__", "__getattribute__", "__class_getitem__"}
    changing = set(vars(list)) - only_read - about_the_class - {"copy", "__repr__"}
    assert changing <= set(vars(Topics.__mro__[1]))


def test_find_during_extend_from_iterator_sees_added_elements() -> None:
    topics = Topics([Topic(name="a")])
    given = [Topic(name=name) for name in "abbc"]
    topics.extend(topic for topic in given if topics.find(topic.name) is None)
    assert [topic.name for topic in topics] == ["a", "b", "c"]
    topics += (topic for topic in given if not topics.find(topic.name))
    assert len(topics) == 3


def test_find_works_after_extend_fails_halfway() -> None:
    def failing() -> Iterator[Topic]:
        yield Topic(name="b")
        raise OSError("gone")

    topics = Topics([Topic(name="a")])
    assert topics.find("b") is None
    with pytest.raises(OSError, match=r"^gone$"):
        topics.extend(failing())
    assert topics.find("b") is topics[1]
    topics[:] = sorted(topics, key=lambda topic: topic.name or "", reverse=True)
    assert topics.find("b") is topics[0]


def test_find_works_after_sort_fails_halfway() -> None:
    numbers: list[Any] = [1, 3, 2, "no number"]
    topics = Topics(Topic(name="a", error_code=number) for number in numbers)
    before = topics.find_all("a")
    with pytest.raises(TypeError, match=r"^'<' not supported between instances of 'str' and 'int'$"):
        topics.sort(key=lambda topic: topic.error_code)
    assert [topic.error_code for topic in topics] == [1, 2, 3, "no number"]
    assert topics.find_all("a") == topics != before


def test_find_is_correct_after_lookups_during_sort() -> None:
    topics = topics_named("b", "a")
    topics.sort(key=lambda topic: (topics.find("a") is not None, topic.name or ""))
    assert topics.find("a") is topics[0]


def test_find_all_returns_a_new_list() -> None:
    topics = topics_named("a", "b")
    topics.find_all("a").clear()
    assert topics.find_all("a") == [topics[0]]


def test_lookup_with_an_element_without_key_raises() -> None:
    topics = Topics([Topic(name="a")])
    stranger: Any = "b"
    assert topics.find("a") is topics[0]
    for use in (lambda: topics.append(stranger), lambda: topics.find("a"), lambda: topics.find_all("b")):
        with pytest.raises(AttributeError, match=r"^'str' object has no attribute 'name'$"):
            use()
    topics.remove(stranger)
    assert topics.find("a") is topics[0]


def test_insert_uses_the_position_and_add_appends() -> None:
    topics = Topics([Topic(name="a", error_code=1)])
    topics.insert(0, Topic(name="a", error_code=2))
    topics.add(Topic(name="a", error_code=3))
    assert [topic.error_code for topic in topics.find_all("a")] == [2, 1, 3]


# --- type and copies ---------------------------------------------------------------------------------------------------


def topics_named(*names: str) -> Topics:
    return Topics(Topic(name=name) for name in names)


def test_collections_are_lists() -> None:
    topics = MetadataResponse.read(MetadataResponse(topics=topics_named("a", "b", "c")).write(12), 12).topics
    assert isinstance(topics, list)
    match topics:
        case [first, *rest]:
            assert first is topics[0]
            assert rest == topics[1:]
        case _:
            pytest.fail("no sequence")
    assert sorted(topics, key=lambda topic: topic.name or "", reverse=True)[0] is topics[2]
    assert topics.index(topics[1]) == 1
    assert topics.count(Topic(name="a")) == 1
    assert topics == list(topics)
    assert list(topics) == topics
    with pytest.raises(TypeError, match=r"^unhashable type: 'MetadataResponseTopicCollection'$"):
        hash(topics)


def test_slices_and_sums_are_plain_lists() -> None:
    topics = topics_named("a", "b")
    for made in (topics[:], topics + topics, topics * 2, 2 * topics, sorted(topics, key=id)):
        assert type(made) is list
    assert type(topics.copy()) is Topics
    assert repr(topics[:0]) == "[]"
    assert repr(topics.copy()) == f"MetadataResponseTopicCollection([{topics[0]!r}, {topics[1]!r}])"


def test_collections_have_one_slot_and_no_dict() -> None:
    assert Topics.__slots__ == ()
    assert [each.__name__ for each in Topics.__mro__[:3]] == [Topics.__name__, "KeyedCollection", "list"]
    assert vars(Topics.__mro__[1])["__slots__"] == ("_index",)
    assert not hasattr(Topics(), "__dict__")
    assert not hasattr(Topics(), "_index")
    assert Topics.__basicsize__ == list.__basicsize__ + struct.calcsize("P")


def after_lookup(topics: Topics) -> Topics:
    topics.find("a")
    return topics


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("prepared", [Topics, after_lookup, Topics.copy])
def test_pickled_collections_round_trip(protocol: int, prepared: Callable[[Topics], Topics]) -> None:
    elements: list[Any] = [SimpleNamespace(name=name) for name in "aba"]  # structs need pickle protocol 2
    topics = prepared(Topics(elements))
    data = pickle.dumps(topics, protocol)
    assert data == pickle.dumps(Topics(elements), protocol)
    twin = pickle.loads(data)
    assert type(twin) is Topics
    assert twin == topics
    assert twin.find("a") is twin[0]
    assert twin.find_all("a") == [twin[0], twin[2]]


@pytest.mark.parametrize("prepared", [Topics, after_lookup])
def test_deep_copied_collections_are_equal_and_independent(prepared: Callable[[Topics], Topics]) -> None:
    topics = prepared(topics_named("a", "b"))
    topics.append(topics[0])
    twin = copy.deepcopy(topics)
    assert type(twin) is Topics
    assert twin == topics
    assert twin[2] is twin[0]
    assert twin.find_all("a") == [twin[0], twin[2]]
    assert twin.find("a") is twin[0]
    assert twin[0] is not topics[0]


class Named(Topics):
    __slots__ = ("__dict__", "place")
    place: str
    origin: str


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_subclass_attributes_are_copied(copied: Callable[[Named], Named]) -> None:
    topics = Named(topics_named("a"))
    topics.place, topics.origin = "here", "there"
    topics.find("a")
    twin = copied(topics)
    assert (type(twin), twin, twin.place, twin.origin) == (Named, topics, "here", "there")
    twin.append(Topic(name="new"))
    assert twin.find("new") is twin[1]
    assert topics.find("new") is None


def test_collections_work_with_dataclasses_and_json() -> None:
    response = MetadataResponse(topics=topics_named("a", "b"))
    as_dict = dataclasses.asdict(response)
    assert [topic["name"] for topic in as_dict["topics"]] == ["a", "b"]
    assert json.loads(json.dumps(as_dict["topics"], default=str))[1]["name"] == "b"
    replaced = dataclasses.replace(response, controller_id=7)
    assert replaced.topics is response.topics
    assert kafka_messages.json.to_json(replaced, 12)["topics"] == [
        {"errorCode": 0, "name": each, "topicId": "A" * 22, "isInternal": False, "partitions": []}
        | {"topicAuthorizedOperations": -2147483648}
        for each in "ab"
    ]


def test_elements_are_found_by_a_key_of_several_fields() -> None:
    resources = [AlterConfigsResource(resource_type=kind, resource_name=name) for kind in (2, 4) for name in ("1", "t")]
    request = IncrementalAlterConfigsRequest(resources=resources)
    assert type(request.resources) is AlterConfigsResourceCollection
    assert request.resources.find(4, "1") is resources[2]
    assert request.resources.find(2, "x") is None


def test_constructors_copy_plain_lists_into_collections() -> None:
    given = [Topic(name="a")]
    response = MetadataResponse(topics=given)
    given.append(Topic(name="b"))
    assert [topic.name for topic in response.topics] == ["a"]
    assert type(MetadataResponse(topics=Named(given)).topics) is Named
    foreign: Any = AlterConfigsResourceCollection()
    made = MetadataResponse(topics=foreign).topics
    assert type(made) is Topics
    assert made is not foreign


def test_truncated_collection_raises_decode_error() -> None:
    data = MetadataResponse(topics=topics_named("a", "b")).write(12)
    with pytest.raises(DecodeError) as caught:
        MetadataResponse.read(data[:-10], 12)
    assert str(caught.value).startswith("MetadataResponse v12: topics[1].")
