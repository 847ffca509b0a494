"""Native constructors: the same objects, signatures and errors as generated ones."""

from __future__ import annotations

import dataclasses
import inspect
import random
from collections.abc import Iterator
from typing import Any
from unittest import mock
from uuid import UUID

import pytest
from kafka_messages import FetchRequest, MetadataRequest, MetadataResponse
from kafka_messages._core.wire import UNSET
from kafka_messages.messages.metadata_response import (
    MetadataResponsePartition,
    MetadataResponseTopic,
    MetadataResponseTopicCollection,
)

from tests.support import vectors
from tests.support.implementations import Outcome, opened, outcome, purely, script, structs_in

MESSAGES = vectors.message_names()
WRONG: tuple[Any, ...] = (
    None,
    0,
    -1,
    1 << 70,
    True,
    1.5,
    "",
    "text",
    b"",
    b"bytes",
    [],
    [None],
    (),
    (1,),
    {},
    {1: 2},
    UNSET,
    UUID(int=1),
)


def construct_generated(cls: Any, *args: Any, **named: Any) -> Any:
    """Construct an object with the generated ``__init__``, bypassing the core."""
    return type.__call__(cls, *args, **named)


def classes_of(name: str) -> list[Any]:
    opened(vectors.message_class(name))
    found: dict[Any, None] = {}
    for vector in vectors.committed()[name]:
        found |= dict.fromkeys(map(type, structs_in(vector.cls.read(vector.data, vector.version))))
    return list(found)


@pytest.mark.parametrize("name", MESSAGES)
def test_constructed_objects_equal_generated_ones(name: str) -> None:
    opened(vectors.message_class(name))
    for vector in vectors.committed()[name]:
        for struct in structs_in(vector.cls.read(vector.data, vector.version)):
            cls, values = type(struct), {each: getattr(struct, each) for each in struct._names}
            made, wanted = cls(**values), construct_generated(cls, **values)
            assert made == wanted == struct, vector
            assert repr(made) == repr(wanted), vector
            assert slots_of(made) == slots_of(wanted), vector


def slots_of(struct: Any) -> list[tuple[str, type, str]]:
    """Return the slots of a struct, including those of properties."""
    names = [name for base in type(struct).__mro__ for name in getattr(base, "__slots__", ())]
    return [(name, type(getattr(struct, name)), repr(getattr(struct, name))) for name in names]


@pytest.mark.parametrize("name", MESSAGES)
def test_values_of_many_types_match_the_generated_constructor(name: str) -> None:
    for cls in classes_of(name):
        for parameter in inspect.signature(cls).parameters:
            for value in WRONG:
                got, wanted = outcome(cls, **{parameter: value}), outcome(
                    construct_generated, cls, **{parameter: value}
                )
                assert got == wanted, (cls, parameter, value)
                if not got.is_error:
                    assert slots_of(got.value) == slots_of(wanted.value), (cls, parameter, value)


@pytest.mark.parametrize("name", MESSAGES)
def test_signatures_equal_the_generated_ones(name: str) -> None:
    for cls in classes_of(name):
        parameters = list(inspect.signature(cls.__init__).parameters.values())
        assert list(inspect.signature(cls).parameters.values()) == parameters[1:]
        assert [field.name for field in dataclasses.fields(cls)] == list(cls._names)
        made = cls()
        assert dataclasses.replace(made) == made == construct_generated(cls)
    for call in ("read", "read_from", "write", "size"):
        cls = vectors.message_class(name)
        wanted = getattr(cls, call).__wrapped__
        assert inspect.signature(getattr(cls, call)) == inspect.signature(wanted)
        assert (getattr(cls, call).__doc__, getattr(cls, call).__name__) == (wanted.__doc__, call)


def outcome_of_both(*args: Any, **named: Any) -> Outcome:
    got = outcome(MetadataResponseTopic, *args, **named)
    assert got == outcome(construct_generated, MetadataResponseTopic, *args, **named)
    return got


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ("text", "partitions: expected list of MetadataResponsePartition, got str of 4 characters"),
        (b"bytes", "partitions: expected list of MetadataResponsePartition, got 5 bytes"),
        (None, "partitions: expected list of MetadataResponsePartition, got None"),
        (7, "partitions: expected list of MetadataResponsePartition, got int (7)"),
        ({1: 2}, "partitions: expected list of MetadataResponsePartition, got dict of 1 element"),
    ],
)
def test_strings_mappings_and_numbers_are_rejected_for_arrays(values: Any, text: str) -> None:
    opened(MetadataResponse)
    got = outcome_of_both(partitions=values)
    assert (got.is_error, got.kind, got.text) == (True, TypeError, text)


def test_every_iterable_is_accepted_for_arrays() -> None:
    opened(MetadataResponse)
    ones = [MetadataResponsePartition(partition_index=n) for n in range(3)]

    class Mine(list[Any]):
        pass

    mine = Mine(ones)
    for values in (
        tuple(ones),
        iter(ones),
        (one for one in ones),
        dict.fromkeys(range(3)).keys(),
        {1},
        range(3),
        mine,
        ones,
    ):
        made = MetadataResponseTopic(partitions=values)  # type: ignore[arg-type]  # some are of numbers
        assert type(made.partitions) is (Mine if values is mine else list)
        assert len(made.partitions) in (1, 3)
    assert MetadataResponseTopic(partitions=ones).partitions is ones
    assert MetadataResponseTopic(partitions=mine).partitions is mine

    topics = [MetadataResponseTopic(name="a"), MetadataResponseTopic(name="b")]
    for several in (topics, tuple(topics), iter(topics), MetadataResponseTopicCollection(topics)):
        made_of = MetadataResponse(topics=several).topics
        assert type(made_of) is MetadataResponseTopicCollection
        assert list(made_of) == topics
        assert made_of.find("b") is topics[1]
    kept = MetadataResponseTopicCollection(topics)
    assert MetadataResponse(topics=kept).topics is kept
    copied = MetadataResponse(topics=topics).topics
    topics.clear()
    assert len(copied) == 2


def test_failing_iterable_raises_its_error() -> None:
    opened(MetadataResponse)

    def failing() -> Iterator[MetadataResponsePartition]:
        yield MetadataResponsePartition()
        raise LookupError("halfway")

    with pytest.raises(LookupError, match=r"^halfway$"):
        MetadataResponseTopic(partitions=failing())


def test_wrong_arguments_match_the_generated_constructor() -> None:
    opened(MetadataResponse)

    class Name(str):
        __slots__ = ()

    assert outcome_of_both(1).text == "MetadataResponseTopic.__init__() takes 1 positional argument but 2 were given"
    unknown = "MetadataResponseTopic.__init__() got an unexpected keyword argument 'nam'"
    assert (
        outcome_of_both(nam="x").text.removesuffix(". Did you mean 'name'?") == unknown
    )  # newer Pythons add a suggestion
    assert outcome_of_both(name="x", nam="x").is_error
    assert outcome_of_both(self=1).is_error
    assert not outcome_of_both(**{Name("name"): "x"}).is_error
    assert not outcome_of_both(**{"".join(["na", "me"]): "x"}).is_error
    assert not outcome_of_both(is_internal=True, name="x", error_code=4).is_error
    assert outcome_of_both(**{"": 1}).is_error
    assert outcome_of_both(*(1, 2), name="x").is_error
    named: dict[Any, Any] = {1: 2}
    with pytest.raises(TypeError, match="keywords must be strings"):
        MetadataResponseTopic(**named)


def test_keywords_in_any_order_are_accepted() -> None:
    opened(FetchRequest)
    rnd = random.Random(1)
    values: dict[str, Any] = {"max_wait_ms": 5, "rack_id": "r", "session_id": 7, "topics": [], "cluster_id": None}
    values |= {"replica_state": None, "min_bytes": -1, "unknown_tagged_fields": (1,)}
    for _ in range(300):
        some = dict(rnd.sample(sorted(values.items()), rnd.randrange(len(values) + 1)))
        assert slots_of(FetchRequest(**some)) == slots_of(construct_generated(FetchRequest, **some))


# --- patched and derived classes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_opened", [True, False])
@pytest.mark.parametrize("name", ["__init__", "__new__", "__setattr__"])
def test_patched_special_methods_are_called(is_opened: bool, name: str) -> None:
    text = f"""
from kafka_messages.messages.metadata_response import MetadataResponse, MetadataResponsePartition as Partition
if {is_opened}:
    MetadataResponse().write(0)
    Partition(partition_index=1)
calls = []
old = getattr(Partition, {name!r})
def patched(first, *args, **named):
    calls.append(first)
    return old(first) if {name!r} == "__new__" else old(first, *args, **named)
setattr(Partition, {name!r}, patched)
MetadataResponse().write(0)
assert Partition(partition_index=1).partition_index == 1
assert len(calls) == (len(Partition._names) if {name!r} == "__setattr__" else 1), calls
if {name!r} != "__new__":  # Python does not restore it
    setattr(Partition, {name!r}, old)
    calls.clear()
    assert Partition(partition_index=1).partition_index == 1
    assert calls == []
"""
    assert script(text) == ""


def test_mocked_constructor_is_called_and_restored() -> None:
    opened(MetadataResponse)
    with mock.patch.object(MetadataResponsePartition, "__init__", return_value=None) as patched:
        MetadataResponsePartition(partition_index=3)
    patched.assert_called_once_with(partition_index=3)
    assert MetadataResponsePartition(partition_index=3).partition_index == 3


def test_subclasses_are_constructed() -> None:
    opened(MetadataResponse)

    class Mine(MetadataResponsePartition):
        pass

    class Own(MetadataResponsePartition):
        def __init__(self, index: int) -> None:
            super().__init__(partition_index=index)
            self.more = index

    assert type(Mine(partition_index=2)) is Mine
    assert vars(Mine(partition_index=2)) == {}
    assert (Own(2).partition_index, Own(2).more) == (2, 2)
    assert Own(2) == MetadataResponsePartition(partition_index=2)


def test_construction_without_a_call_of_the_class_works() -> None:
    opened(MetadataRequest)
    assert type.__call__(MetadataRequest) == MetadataRequest()
    assert MetadataRequest.__new__(MetadataRequest).write is not None
    message = MetadataRequest.__new__(MetadataRequest)
    assert outcome(message.write, 4) == purely(message.write, 4)
    message.__init__(topics=None)  # type: ignore[misc]  # again, on a new object
    assert message == MetadataRequest(topics=None)
