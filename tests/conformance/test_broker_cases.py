"""The cases for brokers: their files, their classes, and the requests that they send."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest
from kafka_conformance.broker_case import (
    ACCESS,
    BrokerCase,
    CaseStep,
    access_of,
    access_of_apis,
    broker_cases,
    built,
    request_cases,
    written_broker_cases,
)
from kafka_conformance.case import CaseError
from kafka_conformance.pattern import fitted, replaced
from kafka_messages.json import from_json
from kafka_messages.protocol import api, apis
from kafka_messages.schema import descriptor_of

WRITTEN = list(written_broker_cases())
REQUESTS = list(request_cases())
GIVEN = {"prefix", "topic", "group", "transactionalId", "unknownTopicId", "now"}
BY_SETUP = {
    "topic": {"topicId", "leaderId", "leaderHost", "leaderPort"},
    "records": {"timestamp"},
    "producer": {"producerId", "producerEpoch"},
    "group": {"coordinatorId", "coordinatorHost", "coordinatorPort", "unknownGroup"},
    "member": {"memberId", "generation"},
    "transactional": {"producerId", "producerEpoch", "unknownTransactionalId"},
}


def sends(case: BrokerCase) -> list[CaseStep]:
    return [each for each in (*case.steps, *case.cleanup) if each.send is not None and each.send.api]


def test_ids_are_unique_and_made_of_group_and_name() -> None:
    ids = Counter(case.id for case in broker_cases())
    assert [id for id, count in ids.items() if count > 1] == []
    assert [id for id in ids if not re.fullmatch(r"[A-Z0-9]+(-[A-Z0-9]+)*\.[a-z0-9]+(-[a-z0-9]+)*", id)] == []


def test_rules_are_sentences() -> None:
    assert [case.rule for case in broker_cases() if not (case.rule.endswith(".") and len(case.rule.split()) < 30)] == []


def test_each_api_has_one_class() -> None:
    assert sorted(access_of_apis()) == sorted(each.name for each in apis())
    classes = json.loads(files("kafka_conformance").joinpath("cases", "apis.json").read_text())
    names = Counter(name for names in classes.values() for name in names)
    assert [name for name, count in names.items() if count > 1] == []


def test_the_class_of_a_case_fits_its_requests() -> None:
    wrong = [case.id for case in WRITTEN if ACCESS.index(case.access) < ACCESS.index(access_of(case))]
    assert wrong == []


def test_each_api_has_a_request_or_a_reason() -> None:
    of_apis = {case.steps[-1].send.api for case in REQUESTS if case.steps and case.steps[-1].send}
    missing = {
        each.name for each in apis() if each.stable_versions and access_of_apis()[each.name] != "cluster"
    } - of_apis
    assert missing == {"FetchSnapshot", "SaslAuthenticate", "StreamsGroupTopologyDescriptionUpdate"}
    assert [case.id for case in REQUESTS if not case.steps and not case.missing] == []


def test_each_request_fits_each_of_its_versions() -> None:
    count = 0
    for case in broker_cases():
        for step in sends(case):
            assert step.send is not None
            of, versions = api(step.send.api), step.send.version
            lowest, highest = (versions, versions) if isinstance(versions, int) else versions
            for version in range(lowest, min(highest, of.request_class.HIGHEST_SUPPORTED_VERSION) + 1):
                content = fitted(
                    replaced(step.send.message, StandIns()), descriptor_of(of.request_class).fields, version
                )
                from_json(of.request_class, content, version, default_missing=True)
                count += 1
    assert count > 1000


class StandIns(dict[str, Any]):
    """A number or a topic id for each variable."""

    def __missing__(self, name: str) -> Any:
        return 1 if name in NUMBERS else "A" * 22


NUMBERS = ("now", "timestamp", "producerId", "producerEpoch", "generation", "gen", "epoch", "session", "leaderId")


def test_each_variable_is_set_before_its_use() -> None:
    wrong = []
    for case in broker_cases():
        words = {word for each in case.setup for word in each.split()}
        known = GIVEN.union(*(BY_SETUP[each] for each in words if each in BY_SETUP))
        for step in (*case.steps, *case.cleanup):
            used = re.findall(r"\$([A-Za-z]+)", str([step.send and step.send.message, step.expect]))
            wrong += [f"{case.id}: {each}" for each in used if each not in known]
            known |= {each.removeprefix("$") for each in step.save}
    assert wrong == []


ROW = {"id": "TEST.case", "class": "read", "rule": "It works.", "source": "none"}


def test_a_row() -> None:
    row = {**ROW, "steps": [{"send": {"raw": "00", "as": {"api": "Fetch", "version": 3}, "correlationId": 7}}]}
    case = built(BrokerCase, row, "cases:1")
    (step,) = case.steps
    assert step.send is not None
    assert step.send.read_as is not None
    assert (case.access, step.send.correlation_id, step.send.read_as.version) == ("read", 7, 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "sevrity": "error"}, "cases:1: unknown key 'sevrity'; did you mean 'severity'?"),
        ({**ROW, "access": "read"}, "cases:1: unknown key 'access'"),
        ({"id": "TEST.case"}, "cases:1: the key 'rule' is missing"),
        ({**ROW, "steps": [{}, {"expct": {}}]}, "cases:1: steps[1]: unknown key 'expct'; did you mean 'expect'?"),
        (
            {**ROW, "cleanup": [{"send": {"apis": "Fetch"}}]},
            "cases:1: cleanup[0]: send: unknown key 'apis'; did you mean 'api'?",
        ),
        (
            {**ROW, "steps": [{"send": {"as": {"api": "Fetch"}}}]},
            "cases:1: steps[0]: send: as: the key 'version' is missing",
        ),
    ],
)
def test_invalid_rows(row: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError) as error:
        built(BrokerCase, row, "cases:1")
    assert str(error.value) == message


def test_fields_that_a_version_lacks_are_left_out() -> None:
    content = {"topics": [{"name": "a", "topicId": "b"}], "typo": 1, "allowAutoTopicCreation": False}
    fields = descriptor_of(api("Metadata").request_class).fields
    assert fitted(content, fields, 4) == {"topics": [{"name": "a"}], "typo": 1, "allowAutoTopicCreation": False}
    assert fitted({"topics": None}, fields, 1) == {"topics": None}


def test_variables() -> None:
    known = {"topic": "t", "epoch": 3, "unknown": None}
    content = [
        "$topic",
        "$topic-x",
        "$topic a b",
        "$epoch+1",
        "$epoch-1",
        "$epoch",
        "$unknown",
        {"repeat": ["ab", 2]},
        1,
    ]
    assert replaced(content, known) == ["t", "t-x", "t a b", 4, 2, 3, None, "abab", 1]
    with pytest.raises(KeyError):
        replaced("$nothing", known)
