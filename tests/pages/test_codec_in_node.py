"""The JavaScript codec of the pages, compared with ``kafka_messages.explain`` and with vectors from Kafka's classes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import (
    AlterUserScramCredentialsRequest,
    DecodeError,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from kafka_messages.explain import Explanation, explain, explain_request, explain_response
from kafka_messages.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_messages.protocol import encode_request
from kafka_messages.testing import damaged

from kafka_message_generator.export.command import write
from tests.support import javascript, random_messages, vectors
from tests.support.pages import ROOT
from tests.support.vectors import plain

pytestmark = pytest.mark.skipif(bool(javascript.missing()), reason=javascript.missing())
SEED = 14
DAMAGED = 10_000
SECRET = "swordfish-and-chips"


@pytest.fixture(scope="session")
def protocol(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(ROOT / "specs" / "kafka", tmp_path_factory.mktemp("protocol"))[0]


def rows(found: Explanation) -> Any:
    return json.loads(json.dumps(list(found.rows())))


def error_of(found: Explanation) -> Any:
    if found.error is None:
        return None
    assert isinstance(found.error, DecodeError)
    return found.error.reason, found.error.path, found.error.offset


def error_of_answer(answer: dict[str, Any]) -> Any:
    return answer["error"] and tuple(answer["error"][key] for key in ("reason", "path", "offset"))


def test_every_vector_is_decoded_and_explained(protocol: Path) -> None:
    known = [vector for each in vectors.committed().values() for vector in each]
    asked = [{"message": v.message, "version": v.version, "hex": v.data.hex(), "rows": True} for v in known]
    for vector, answer in zip(known, javascript.ask(protocol, asked), strict=True):
        assert answer["error"] is None, vector
        assert plain(answer["value"]) == plain(vector.json_out), vector
        assert answer["again"] == vector.data.hex(), vector
        assert answer["rows"] == rows(explain(vector.data, vector.cls, vector.version)), vector


def test_messages_of_every_type_and_encoding_are_decoded_and_explained(tmp_path: Path) -> None:
    package = random_messages.Package("kafka_messages_proposals")
    explained = package.module("explain").explain
    known = [
        (cls, version, message)
        for cls in map(package.message, package.message_names)
        for version in random_messages.versions_of(cls)
        if version not in package.descriptor_of(cls).with_optional and not package.descriptor_of(cls).is_interleaved
        for message in random_messages.messages(cls, version, SEED)
    ]
    asked = [
        {"message": cls.NAME, "version": version, "hex": message.write(version).hex(), "rows": True}
        for cls, version, message in known
    ]
    answers = javascript.ask(write(ROOT / "specs" / "proposals", tmp_path)[0], asked)
    for (cls, version, message), answer in zip(known, answers, strict=True):
        data = message.write(version)
        assert (answer["error"], answer["again"]) == (None, data.hex()), (cls, version, data.hex())
        assert without_notes(answer["rows"]) == without_notes(rows(explained(data, cls, version))), (cls, version)


def without_notes(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without notes: JavaScript names error codes, which the package of the proposals does not have."""
    return [{key: value for key, value in row.items() if key != "note"} for row in found]


def test_damaged_vectors_give_the_errors_of_explain(protocol: Path) -> None:
    rnd = random.Random(SEED)
    known = [vector for each in vectors.committed().values() for vector in each if len(vector.data) < 2000]
    cases = [(vector, damaged(rnd, vector.data)) for vector in rnd.choices(known, k=DAMAGED)]
    asked = [{"message": v.message, "version": v.version, "hex": data.hex(), "rows": True} for v, data in cases]
    faults = 0
    for (vector, data), answer in zip(cases, javascript.ask(protocol, asked), strict=True):
        found = explain(data, vector.cls, vector.version)
        assert error_of_answer(answer) == error_of(found), (vector, data.hex())
        assert answer["rows"] == rows(found), (vector, data.hex())
        faults += found.error is not None
    assert faults > DAMAGED // 2


def test_requests_and_responses_with_headers_are_explained(protocol: Path) -> None:
    request = encode_request(MetadataRequest(), 12, 7, "me")
    response = bytes.fromhex(
        "00000007" + "0023" + "00000001" + "0012" + "0000" + "0003"
    )  # ApiVersions v0 to v3, KIP-511
    asked: list[dict[str, object]] = [
        {"as": "request", "framed": True, "hex": request.hex(), "rows": True},
        {"as": "request", "framed": False, "hex": (request[4:] + b"more").hex(), "rows": True},
        {"as": "request", "framed": True, "hex": request[:-1].hex(), "rows": True},
        {"as": "request", "framed": True, "hex": (request + b"x").hex(), "rows": True},
        {"as": "response", "key": 18, "version": 3, "framed": False, "hex": response.hex(), "rows": True},
    ]
    expected = [
        explain_request(request, framed=True),
        explain_request(request[4:] + b"more"),
        explain_request(request[:-1], framed=True),
        explain_request(request + b"x", framed=True),
        explain_response(response, 18, 3),
    ]
    for answer, found in zip(javascript.ask(protocol, asked), expected, strict=True):
        assert answer["rows"] == rows(found)
        assert answer["title"] == found.title
        assert error_of_answer(answer) == error_of(found)


def test_body_of_unknown_api_or_version_is_redacted(protocol: Path) -> None:
    cases = {"03e8000000000007": "unknown API key 1000", "0003006300000007": "MetadataRequest has no version 99"}
    asked = [{"as": "request", "hex": start + SECRET.encode().hex(), "rows": True} for start in cases]
    for answer, reason in zip(javascript.ask(protocol, asked), cases.values(), strict=True):
        assert answer["error"]["reason"] == reason
        assert [row["path"] for row in answer["rows"][:3]] == [
            "header.request_api_key",
            "header.request_api_version",
            "header.correlation_id",
        ]
        assert answer["rows"][3]["value"] == "(redacted)"
        assert SECRET.encode().hex() not in json.dumps(answer["rows"])


def test_body_after_damaged_request_header_is_redacted(protocol: Path) -> None:
    body = SaslAuthenticateRequest(auth_bytes=SECRET.encode()).write(2)
    starts = ("0002 6d65 00", "7fff 6d65 00", "0012 6d65 00", "fffe 6d65 00", "0002 ff65 00", "0002 6d65 05")
    requests = [bytes.fromhex(f"0024 0002 00000007 {start}") + body for start in (*starts, "0002 6d65 01 07 0a")]
    requests += [b"\0ada\0" + SECRET.encode(), b"\0A\0" + SECRET.encode(), b"\0A\0" + SECRET.encode()[:4]]
    requests += [bytes.fromhex("0003 000c 00000007 7fff 6d65 00 7075626c6963")]
    asked = [{"as": "request", "hex": each.hex(), "rows": True} for each in requests]
    framed = [length.to_bytes(4, "big", signed=True) + requests[0] for length in (-1, 5)]
    asked += [{"as": "request", "hex": each.hex(), "rows": True, "framed": True} for each in framed]
    answers = javascript.ask(protocol, asked)
    expected = [*map(explain_request, requests), *(explain_request(each, framed=True) for each in framed)]
    for answer, found in zip(answers, expected, strict=True):
        assert answer["rows"] == rows(found)
        assert SECRET.encode()[:4].hex() not in json.dumps(answer["rows"])


def test_body_after_damaged_response_header_is_redacted(protocol: Path) -> None:
    body = SaslAuthenticateResponse(auth_bytes=SECRET.encode()).write(2)
    starts = ("00000007 00", "00000007 7f", "00000007 01 00 7f", "00000007 01 00 0a")
    responses = [bytes.fromhex(start) + body for start in starts]
    asked = [{"as": "response", "key": 36, "version": 2, "hex": each.hex(), "rows": True} for each in responses]
    for answer, data in zip(javascript.ask(protocol, asked), responses, strict=True):
        assert answer["rows"] == rows(explain_response(data, 36, 2))
        assert SECRET.encode()[:4].hex() not in json.dumps(answer["rows"])


def test_secrets_are_redacted_unless_requested(protocol: Path) -> None:
    upsertion = ScramCredentialUpsertion(name="ada", salt=b"salt", salted_password=SECRET.encode())
    data = AlterUserScramCredentialsRequest(upsertions=[upsertion]).write(0)
    question = {"message": "AlterUserScramCredentialsRequest", "version": 0, "hex": data.hex(), "rows": True}
    hidden, shown = javascript.ask(protocol, [question, {**question, "show_secrets": True}])
    planted = SECRET.encode().hex()
    assert planted not in json.dumps(hidden["rows"])
    assert planted in json.dumps(shown["rows"])
    assert hidden["rows"] == rows(explain(data, AlterUserScramCredentialsRequest, 0))
