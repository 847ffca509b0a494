"""Keyed collections: lookup by key, order and duplicate keys."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType
from typing import Any

import pytest

from tests.support.building import build_package, module_of
from tests.support.specs import field, message

KEYED = message(
    field("Topics", "[]Topic", fields=[field("Name", "string", mapKey=True), field("Size1", "int8")]),
    field(
        "Pairs",
        "[]Pair",
        nullableVersions="1+",
        fields=[
            field("Name", "string", mapKey=True, nullableVersions="0+"),
            field("Value", "int8"),
            field("Index", "int16", mapKey=True),
        ],
    ),
    field("Tagged", "[]Mark", "2+", tag=0, taggedVersions="2+", fields=[field("Id", "uuid", "2+", mapKey=True)]),
    name="Keyed",
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return build_package(tmp_path_factory.mktemp("keyed"), KEYED)


@pytest.fixture
def inside(package: ModuleType) -> ModuleType:
    return module_of(package.Keyed)


def filled(inside: ModuleType, *names: str) -> Any:
    return inside.TopicCollection(inside.Topic(name=name, size1=number) for number, name in enumerate(names))


def sizes(topics: Any) -> list[int]:
    return [topic.size1 for topic in topics]


def test_elements_are_found_by_key(inside: ModuleType) -> None:
    topics = filled(inside, "a", "b", "c")
    assert topics.find("b") is topics[1]
    assert topics.find("x") is None
    assert topics.find_all("x") == []
    assert inside.TopicCollection().find("a") is None


def test_duplicate_keys_keep_their_order(package: ModuleType, inside: ModuleType) -> None:
    topics = filled(inside, "a", "b", "a")
    topics.append(inside.Topic(name="b", size1=9))
    assert sizes(topics) == [0, 1, 2, 9]
    assert topics.find("a") is topics[0]
    assert sizes(topics.find_all("a")) == [0, 2]
    assert sizes(topics.find_all("b")) == [1, 9]
    built = package.Keyed(topics=topics)
    for version in range(4):
        read = package.Keyed.read(built.write(version), version)
        assert read == built
        assert sizes(read.topics.find_all("a")) == [0, 2]


def test_composite_key_is_found_in_full_or_in_part(inside: ModuleType) -> None:
    pairs = inside.PairCollection(inside.Pair(name=n, index=i, value=i) for n, i in (("a", 1), ("a", 2), (None, 1)))
    assert pairs.find("a", 2) is pairs[1]
    assert pairs.find(None, 1) is pairs[2]
    assert pairs.find(name="a", index=1) is pairs[0]
    assert pairs.find("a", 3) is None
    assert pairs.find("a") is pairs[0]
    assert pairs.find(name=None) is pairs[2]  # null is a value
    assert pairs.find_all(index=1) == [pairs[0], pairs[2]]
    with pytest.raises(TypeError):
        pairs.find()


def test_lookup_reflects_every_mutation(inside: ModuleType) -> None:
    topics = filled(inside, "a", "b", "a")
    assert topics.find("a").size1 == 0
    topics.append(inside.Topic(name="c", size1=3))
    topics.add(inside.Topic(name="d", size1=4))
    topics.extend([inside.Topic(name="a", size1=5)])
    assert (topics.find("c").size1, topics.find("d").size1, sizes(topics.find_all("a"))) == (3, 4, [0, 2, 5])
    topics[0] = inside.Topic(name="e", size1=6)
    assert (topics.find("e").size1, sizes(topics.find_all("a"))) == (6, [2, 5])
    del topics[0]
    assert topics.find("e") is None
    topics.clear()
    assert (topics.find("a"), len(topics)) == (None, 0)


def test_changed_key_is_found_after_reindex(inside: ModuleType) -> None:
    topics = filled(inside, "a", "b")
    assert topics.find("a") is topics[0]
    topics[0].name = "z"
    topics.reindex()
    assert topics.find("a") is None
    assert topics.find("z") is topics[0]


def test_remove_prefers_the_identical_object(inside: ModuleType) -> None:
    twin, other = inside.Topic(name="a"), inside.Topic(name="a")
    topics = inside.TopicCollection([twin, inside.Topic(name="b"), other])
    assert topics.find("a") is twin
    topics.remove(other)
    assert topics[0] is twin
    assert len(topics) == 2
    topics.remove(inside.Topic(name="a"))
    assert topics.find("a") is None
    with pytest.raises(ValueError, match="not in list"):
        topics.remove(inside.Topic(name="a"))


def test_collection_behaves_like_a_list(inside: ModuleType) -> None:
    topics = filled(inside, "a", "b", "c")
    assert (len(topics), bool(topics), bool(inside.TopicCollection())) == (3, True, False)
    assert [topic.name for topic in topics] == ["a", "b", "c"]
    assert [topic.name for topic in reversed(topics)] == ["c", "b", "a"]
    assert topics[-1].name == "c"
    assert inside.Topic(name="b", size1=1) in topics
    assert inside.Topic(name="b", size1=2) not in topics
    with pytest.raises(IndexError):
        _ = topics[3]


def test_equal_collections_have_equal_elements_in_order(inside: ModuleType) -> None:
    assert filled(inside, "a", "b") == filled(inside, "a", "b")
    assert filled(inside, "a", "b") == list(filled(inside, "a", "b"))
    assert filled(inside, "a", "b") != filled(inside, "b", "a")
    assert inside.TopicCollection([inside.Topic(name="a", size1=1)]) != filled(inside, "a")
    assert filled(inside, "a") != "a"
    with pytest.raises(TypeError, match="unhashable"):
        hash(filled(inside, "a"))


def test_repr_names_the_collection_class(inside: ModuleType) -> None:
    assert repr(filled(inside, "a")) == "TopicCollection([Topic(name='a', size1=0)])"


def test_deep_copies_have_their_own_index(package: ModuleType, inside: ModuleType) -> None:
    built = package.Keyed(topics=filled(inside, "a", "b", "a"))
    assert built.topics.find("a") is not None
    for each in (copy.deepcopy(built), pickle.loads(pickle.dumps(built))):
        assert each == built
        assert each.topics.find("a") is each.topics[0]
        assert each.topics.find("a") is not built.topics[0]
        each.topics.append(inside.Topic(name="new"))
        assert built.topics.find("new") is None


def test_shallow_copy_is_independent_of_the_original(inside: ModuleType) -> None:
    topics = filled(inside, "a")
    shallow = copy.copy(topics)
    assert shallow[0] is topics[0]
    shallow.append(inside.Topic(name="new"))
    assert len(topics) == 1


def test_constructor_converts_list_and_keeps_collection(package: ModuleType, inside: ModuleType) -> None:
    topics = [inside.Topic(name="a")]
    assert type(package.Keyed(topics=topics).topics) is inside.TopicCollection
    given = filled(inside, "a")
    assert package.Keyed(topics=given).topics is given
    assert package.Keyed().topics is not package.Keyed().topics
    assert type(package.Keyed.read(package.Keyed().write(0), 0).topics) is inside.TopicCollection


def test_null_and_tagged_collections_round_trip(package: ModuleType, inside: ModuleType) -> None:
    built = package.Keyed(pairs=None)
    assert built.write(1).hex() == "00000000ffffffff"
    assert package.Keyed.read(built.write(1), 1) == built
    with pytest.raises(package.EncodeError, match=r"^Keyed v0: pairs: must not be None in this version$"):
        built.write(0)
    tagged = package.Keyed(tagged=[inside.Mark()])
    assert tagged.write(2).hex() == "0101" + "01" + "00" + "12" + "02" + "00" * 16 + "00"
    assert package.Keyed.read(tagged.write(2), 2) == tagged
    assert package.Keyed().write(2).hex() == "010100"


def test_list_instead_of_collection_is_written(package: ModuleType, inside: ModuleType) -> None:
    built = package.Keyed()
    built.topics = [inside.Topic(name="a")]
    assert built.write(0) == package.Keyed(topics=filled(inside, "a")).write(0)
