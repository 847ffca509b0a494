"""Lookups by part of a key, collections as lists, repr and construction of objects."""

from __future__ import annotations

import dataclasses
import json
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import FetchResponse, MetadataRequest, MetadataResponse, ProduceRequest, RawTaggedField
from kafka_messages.json import JsonError, from_json

Topic = ProduceRequest.TopicProduceData
ONE, TWO = UUID(int=1), UUID(int=2)
TOPICS = [Topic(name="a"), Topic(name="b", topic_id=ONE), Topic(name="a", topic_id=TWO), Topic(topic_id=ONE)]


def test_find_by_partial_key_returns_the_first_match() -> None:
    found = ProduceRequest(topic_data=TOPICS).topic_data
    assert found.find("a") is found.find(name="a") is TOPICS[0]
    assert found.find(topic_id=ONE) is TOPICS[1]
    assert found.find("a", TWO) is TOPICS[2]
    assert found.find("") is TOPICS[3]
    assert found.find(topic_id=UUID(int=9)) is None
    assert found.find("b", TWO) is None
    assert found.find_all("a") == [TOPICS[0], TOPICS[2]]
    assert found.find_all(topic_id=ONE) == [TOPICS[1], TOPICS[3]]
    assert found.find_all("b", ONE) == [TOPICS[1]]
    assert found.find_all("none") == []


def test_find_without_key_raises() -> None:
    found: Any = ProduceRequest(topic_data=TOPICS).topic_data
    for call in (found.find, found.find_all):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == "TopicProduceDataCollection lookup: pass at least one key field"


def test_find_by_partial_key_sees_changes() -> None:
    found = ProduceRequest(topic_data=[Topic(name="a")]).topic_data
    found[0].name = "b"
    assert found.find(name="b") is found[0]
    assert found.find(name="a") is None


def test_collections_become_lists_in_asdict_and_json() -> None:
    response = MetadataResponse(brokers=[MetadataResponse.MetadataResponseBroker(node_id=3, host="h", port=1)])
    made = dataclasses.asdict(response)
    assert made["brokers"] == [{"node_id": 3, "host": "h", "port": 1, "rack": None, "unknown_tagged_fields": ()}]
    assert json.loads(json.dumps(made))["brokers"][0]["host"] == "h"


def test_long_bytes_are_abbreviated_in_repr() -> None:
    short, long = bytes(64), b"x" * 65
    cut = "b'" + "x" * 64 + "'... (65 bytes)"
    assert f"records={short!r})" in repr(FetchResponse.PartitionData(records=short))
    assert f"records={cut})" in repr(FetchResponse.PartitionData(records=long))
    assert repr(RawTaggedField(1, long)) == f"RawTaggedField(tag=1, data={cut})"
    changed: Any = FetchResponse.PartitionData()
    changed.records = bytearray(long)
    assert repr(changed).endswith("records=bytearray(b'" + "x" * 64 + "')... (65 bytes))")


def test_unknown_key_is_reported_before_missing_keys() -> None:
    for options in ({}, {"default_missing": True}):
        with pytest.raises(JsonError) as caught:
            from_json(MetadataRequest, {"topic": []}, 12, **options)
        assert str(caught.value) == "MetadataRequest v12: topic: unknown key; did you mean 'topics'?"
    with pytest.raises(JsonError) as caught:
        from_json(MetadataRequest, {"topic": []}, 12, ignore_unknown=True)
    assert str(caught.value) == "MetadataRequest v12: topics: is missing, but version 12 has this field"


def test_missing_keys_get_defaults_on_request() -> None:
    assert from_json(MetadataRequest, {}, 12, default_missing=True) == MetadataRequest()
    made = from_json(MetadataRequest, {"topics": [{"name": "a"}]}, 12, default_missing=True)
    assert made == MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="a")])
    with pytest.raises(JsonError) as caught:
        from_json(MetadataRequest, {"topics": [{"name": "a"}]}, 12)
    assert str(caught.value) == "MetadataRequest v12: topics[0].topicId: is missing, but version 12 has this field"
