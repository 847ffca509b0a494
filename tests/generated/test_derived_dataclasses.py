"""Dataclasses derived from messages, with fields that no version encodes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import kafka_messages
import pytest
from kafka_messages import HeartbeatRequest, UpdateRaftVoterRequest, all_messages
from kafka_messages.testing import random_messages


@dataclasses.dataclass
class Beat(HeartbeatRequest):
    seen: float = 0.0


@dataclasses.dataclass(slots=True)
class Update(UpdateRaftVoterRequest):
    """A subclass without ``__dict__``; ``kraft_version_feature`` is created on access."""

    note: str = "n"


def test_additional_field_is_supported_but_not_encoded() -> None:
    beat = Beat(group_id="g", seen=1.5)
    assert repr(beat).endswith("seen=1.5)")
    assert beat.write(4) == HeartbeatRequest(group_id="g").write(4)
    assert Beat.read(beat.write(4), 4) == Beat(group_id="g")
    assert Beat.read(beat.write(4), 4) != beat
    assert dataclasses.replace(beat, group_id="h") == Beat(group_id="h", seen=1.5)
    assert dataclasses.asdict(beat)["seen"] == 1.5
    assert [field.name for field in dataclasses.fields(Beat)][-1] == "seen"
    assert pickle.loads(pickle.dumps(beat)) == copy.deepcopy(beat) == beat


def test_slots_subclass_keeps_lazily_created_field() -> None:
    feature = UpdateRaftVoterRequest.KRaftVersionFeature(max_supported_version=3)
    update = Update(kraft_version_feature=feature)
    assert not hasattr(update, "__dict__")
    assert update.kraft_version_feature == feature
    assert update.write(0) == UpdateRaftVoterRequest(kraft_version_feature=feature).write(0)
    assert Update().write(0) == UpdateRaftVoterRequest().write(0)
    assert (Update().kraft_version_feature, Update().note) == (UpdateRaftVoterRequest.KRaftVersionFeature(), "n")
    assert pickle.loads(pickle.dumps(update)) == copy.deepcopy(update) == update


def test_frozen_subclass_is_rejected() -> None:
    with pytest.raises(TypeError) as caught:
        dataclasses.dataclass(frozen=True)(type("Frozen", (HeartbeatRequest,), {}))
    assert str(caught.value) == "cannot inherit frozen dataclass from a non-frozen one"


@pytest.mark.parametrize("options", [{}, {"kw_only": True}, {"slots": True}, {"eq": False}], ids=str)
def test_every_message_can_be_subclassed_as_dataclass(options: dict[str, Any]) -> None:
    for info in all_messages():
        base = getattr(kafka_messages, info.name)
        version = base.HIGHEST_SUPPORTED_VERSION
        if version < 0:
            continue
        names = {"__annotations__": {"note": str}, "note": "n", "__module__": __name__}
        derived: Any = dataclasses.dataclass(**options)(type("Derived", (base,), names))
        assert derived().write(version) == base().write(version)
        message = next(iter(random_messages(base, version)))
        data = message.write(version)
        read = derived.read(data, version)
        assert (type(read), read.note, read.write(version)) == (derived, "n", data)
        assert dataclasses.replace(read, note="x").write(version) == data
