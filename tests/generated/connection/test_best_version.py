"""The version that a client chooses for a request."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    AddPartitionsToTxnRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    DeleteTopicsRequest,
    EncodeError,
    EndTxnRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    LeaveGroupRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
    RawTaggedField,
    Request,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
    UnsupportedVersionError,
)
from kafka_messages.connection import (
    ClientConnection,
    LocalProtocolError,
    RequestReceived,
    ServerConnection,
    VersionFallback,
    announce,
)
from kafka_messages.protocol import BrokerVersions, Restriction, Versions, api, apis, encode_response

from tests.generated.connection.test_server_limits import calls_of
from tests.support.random_messages import random_message

ID = UUID(int=7)
NEWEST = BrokerVersions.from_response(announce())
TRANSACTIONS_2 = BrokerVersions.from_response(
    announce(finalized_features={"transaction.version": Versions(0, 2)}, finalized_features_epoch=0)
)


def client(broker: BrokerVersions = NEWEST) -> ClientConnection:
    return ClientConnection(versions=broker)


def fetch(**fields: Any) -> FetchRequest:
    return FetchRequest(topics=[FetchRequest.FetchTopic(**fields, partitions=[FetchRequest.FetchPartition()])])


def produce(transactional_id: str | None = None, **fields: Any) -> ProduceRequest:
    return ProduceRequest(transactional_id=transactional_id, topic_data=[ProduceRequest.TopicProduceData(**fields)])


def commit(**fields: Any) -> OffsetCommitRequest:
    return OffsetCommitRequest(topics=[OffsetCommitRequest.OffsetCommitRequestTopic(**fields)])


def metadata(**fields: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(**fields)])


CHOSEN: list[tuple[Request, int]] = [
    (fetch(topic_id=ID), 18),
    (fetch(topic="orders"), 12),
    (fetch(topic="orders", topic_id=ID), 18),
    (FetchRequest(forgotten_topics_data=[FetchRequest.ForgottenTopic(topic="orders")]), 12),
    (FetchRequest(replica_id=3), 14),
    (produce(topic_id=ID), 13),
    (produce(name="orders"), 12),
    (produce("t", name="orders"), 11),
    (commit(topic_id=ID), 10),
    (commit(name="orders"), 9),
    (OffsetCommitRequest(retention_time_ms=1000), 4),
    (DeleteTopicsRequest(topic_names=["orders"]), 5),
    (DeleteTopicsRequest(topics=[DeleteTopicsRequest.DeleteTopicState(name="orders")]), 6),
    (FindCoordinatorRequest(key="billing"), 3),
    (FindCoordinatorRequest(coordinator_keys=["billing"]), 6),
    (OffsetFetchRequest(group_id="billing"), 7),
    (LeaveGroupRequest(group_id="billing", member_id="m"), 2),
    (AddPartitionsToTxnRequest(v3_and_below_transactional_id="t"), 3),
    (AddPartitionsToTxnRequest(), 3),
    (EndTxnRequest(transactional_id="t"), 4),
    (TxnOffsetCommitRequest(transactional_id="t"), 4),
    (metadata(topic_id=ID, name=None), 13),
    (MetadataRequest(topics=None), 13),
    (HeartbeatRequest(unknown_tagged_fields=(RawTaggedField(9, b"x"),)), 4),
]


@pytest.mark.parametrize(("request_", "version"), CHOSEN, ids=str)
def test_highest_lossless_version_is_sent(request_: Request, version: int) -> None:
    connection = client()
    assert connection.best_version(request_) == version
    assert connection.send(request_).version == version


@pytest.mark.parametrize(
    ("request_", "versions", "chosen"),
    [
        (
            FetchRequest(rack_id="a", cluster_id="c", topics=[FetchRequest.FetchTopic(topic="orders")]),
            Versions(4, 8),
            8,
        ),
        (fetch(topic="orders", topic_id=ID), Versions(4, 12), 12),
        (metadata(topic_id=ID, name="orders"), Versions(0, 9), 9),
        (MetadataRequest(topics=None), Versions(0, 5), 5),
    ],
)
def test_ignorable_fields_do_not_limit_the_version(request_: Request, versions: Versions, chosen: int) -> None:
    assert client(BrokerVersions.of({type(request_): versions})).send(request_).version == chosen


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (EndTxnRequest(transactional_id="t"), 5),
        (TxnOffsetCommitRequest(transactional_id="t"), 6),
        (produce("t", topic_id=ID), 13),
        (AddPartitionsToTxnRequest(), 3),
    ],
)
def test_finalized_feature_allows_its_versions(request_: Request, version: int) -> None:
    assert client(TRANSACTIONS_2).send(request_).version == version


LOST: list[tuple[Request, BrokerVersions, str]] = [
    (
        fetch(topic_id=ID),
        BrokerVersions.of({"Fetch": Versions(4, 11)}),
        "FetchRequest: none of the versions 4 to 11 can carry the whole request; 11 cannot carry"
        " topics[0].topic_id (only versions 13+ have this field); clear these fields, or drop them with lossy=True",
    ),
    (
        metadata(topic_id=ID),
        BrokerVersions.of({"Metadata": Versions(0, 9)}),
        "MetadataRequest: none of the versions 0 to 9 can carry the whole request; 9 cannot carry"
        " topics[0].topic_id (only versions 10+ have this field); clear these fields, or drop them with lossy=True",
    ),
    (
        FindCoordinatorRequest(key="billing", coordinator_keys=["billing"]),
        NEWEST,
        "FindCoordinatorRequest: none of the versions 0 to 6 can carry the whole request; 6 cannot"
        " carry key (only versions 0-3 have this field); clear these fields, or drop them with lossy=True",
    ),
    (
        AddPartitionsToTxnRequest(transactions=[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction()]),
        NEWEST,
        "AddPartitionsToTxnRequest: none of the versions 0 to 3 can carry the whole request; versions 4 to 5 are for"
        " brokers only; 3 cannot carry transactions (only versions 4+ have this field); clear these fields,"
        " or drop them with lossy=True, or pass a restricted version",
    ),
    (
        produce("t", topic_id=ID),
        NEWEST,
        "ProduceRequest: none of the versions 3 to 11 can carry the whole request; versions 12 to 13 need"
        " transaction.version 2 if transactional_id is set; 11 cannot carry topic_data[0].topic_id (only versions 13+"
        " have this field); clear these fields, or drop them with lossy=True, or pass a restricted version",
    ),
    (
        FetchRequest(topics=[FetchRequest.FetchTopic(topic=str(n)) for n in range(5)], replica_id=1),
        BrokerVersions.of({"Fetch": Versions(15, 18)}),
        "FetchRequest: none of the versions 15 to 18 can carry the whole request; 18 cannot carry"
        " replica_id (only versions 0-14 have this field), topics[0].topic (only versions 0-12 have this field),"
        " topics[1].topic (only versions 0-12 have this field), 3 more; clear these fields, or drop them with lossy=True",
    ),
    (
        SyncGroupRequest(group_instance_id="a", protocol_type="consumer", protocol_name="range"),
        BrokerVersions.of({"SyncGroup": Versions(0, 2)}),
        "SyncGroupRequest: none of the versions 0 to 2 can carry the whole request; 2 cannot carry"
        " group_instance_id (only versions 3+ have this field); clear these fields, or drop them with lossy=True",
    ),
    (
        HeartbeatRequest(unknown_tagged_fields=(RawTaggedField(9, b"x"),)),
        BrokerVersions.of({"Heartbeat": Versions(0, 3)}),
        "HeartbeatRequest: none of the versions 0 to 3 can carry the whole request; 3 cannot carry"
        " unknown_tagged_fields (version 3 has no tagged fields); clear these fields, or drop them with lossy=True",
    ),
]


@pytest.mark.parametrize(("request_", "broker", "text"), LOST, ids=lambda value: str(value)[:20])
def test_request_that_no_version_can_carry_is_rejected(request_: Request, broker: BrokerVersions, text: str) -> None:
    connection = client(broker)
    for ask in (connection.send, connection.best_version):
        with pytest.raises(LocalProtocolError) as caught:
            ask(request_)
        assert str(caught.value) == text
    assert connection.unanswered == ()
    sent = connection.send(request_, lossy=True)
    assert sent.unsupported_fields == request_.unsupported_fields(sent.version) != ()
    assert sent.correlation_id == 0


def test_field_of_wrong_type_raises_encode_error() -> None:
    request = DeleteTopicsRequest()
    request.topic_names = "orders"  # type: ignore[assignment]
    with pytest.raises(EncodeError) as caught:
        client().send(request)
    assert str(caught.value) == "DeleteTopicsRequest v5: topic_names: expected list, got str of 6 characters"


def test_unsupported_fields_are_kept_after_the_request_changes() -> None:
    request = DeleteTopicsRequest(topic_names=["orders"])
    sent = client().send(request, lossy=True)
    request.topic_names = []
    assert [each.path for each in sent.unsupported_fields] == ["topic_names"]


def test_lossy_drops_unsupported_fields() -> None:
    asked = FindCoordinatorRequest(key="billing", coordinator_keys=["billing"])
    for version, wanted in ((None, 6), (2, 2)):
        sent = client().send(asked, version, lossy=True)
        assert (sent.version, sent.data) == (wanted, client().send(asked.downgraded(wanted), wanted).data)
        assert sent.request is asked


def test_given_version_is_used_unchanged() -> None:
    sent = client().send(fetch(topic="orders"), 18)
    assert [each.path for each in sent.unsupported_fields] == ["topics[0].topic"]
    assert client().send(EndTxnRequest(), 5).unsupported_fields == ()
    with pytest.raises(EncodeError):
        client().send(FindCoordinatorRequest(key="billing"), 6)


def test_invalid_values_raise_encode_error_with_field() -> None:
    bad: Any = [3]
    for asked, text in (
        (FetchRequest(topics=bad), "FetchRequest v18: topics[0]: expected FetchTopic, got int (3)"),
        (
            FindCoordinatorRequest(key="g", key_type=300),
            "FindCoordinatorRequest v3: key_type: 300 is out of range for INT8, -128 to 127",
        ),
    ):
        with pytest.raises(EncodeError) as caught:
            client().send(asked)
        assert str(caught.value) == text


def test_default_requests_are_sent_at_the_highest_version() -> None:
    for each in apis():
        if each.stable_versions:
            broker = BrokerVersions.of({each: each.stable_versions})
            assert client(broker).send(each.request_class()).version == broker.highest_common(each)


def test_chosen_version_never_drops_refused_fields() -> None:
    checked = 0
    for each in apis():
        for version in each.stable_versions:
            request: Any = random_message(each.request_class, version, f"best {each}")
            broker = BrokerVersions.of({each: each.stable_versions})
            chosen = client(broker).best_version(request) if not each.restrictions else None
            if chosen is not None:
                assert chosen >= version or request.unsupported_fields(chosen) == ()
                assert not any(loss.is_refused for loss in request.unsupported_fields(chosen))
                checked += 1
    assert checked > 200


def test_features_and_brokers_restrict_negotiation() -> None:
    wanted = {"AddPartitionsToTxn": (3, 3), "EndTxn": (4, 5), "TxnOffsetCommit": (4, 6), "Produce": (13, 13)}
    found = {name: (NEWEST.highest_common(name), TRANSACTIONS_2.highest_common(name)) for name in wanted}
    assert found == wanted
    unknown = BrokerVersions(NEWEST.versions, {}, TRANSACTIONS_2.finalized_features, None)
    assert unknown.highest_common("EndTxn") == 4
    with pytest.raises(UnsupportedVersionError) as caught:
        BrokerVersions.of({"EndTxn": Versions(5, 5)}).highest_common("EndTxn")
    assert str(caught.value) == (
        "EndTxn: no common version: the broker supports version 5, this package supports versions 0 to 5, version 5 needs"
        " transaction.version 2"
    )


def test_api_restrictions_are_listed() -> None:
    restricted = {str(each): each.restrictions for each in apis() if each.restrictions}
    assert restricted == {
        "Produce": (Restriction(Versions(12, 13), "transaction.version", 2, "transactional_id"),),
        "AddPartitionsToTxn": (Restriction(Versions(4, 5), None, 0, None),),
        "EndTxn": (Restriction(Versions(5, 5), "transaction.version", 2, None),),
        "TxnOffsetCommit": (Restriction(Versions(5, 6), "transaction.version", 2, None),),
    }
    assert api("Fetch").restrictions == ()


def test_updated_broker_versions_are_used() -> None:
    connection = client()
    assert connection.send(EndTxnRequest()).version == 4
    connection.versions = TRANSACTIONS_2
    assert connection.send(EndTxnRequest()).version == 5


def test_api_versions_fallback_lists_unsupported_fields() -> None:
    connection = ClientConnection()
    sent = connection.send(ApiVersionsRequest(client_software_name="tests", client_software_version="1"))
    assert (sent.version, sent.unsupported_fields) == (5, ())
    [again] = connection.receive_data(encode_response(ApiVersionsResponse(error_code=35), 0, 0))
    assert isinstance(again, VersionFallback)
    assert [each.path for each in sent.unsupported_fields] == ["client_software_name", "client_software_version"]


def test_best_version_cost_is_independent_of_array_length() -> None:
    connection, few, many = client(), fetch(topic_id=ID), fetch(topic_id=ID)
    many.topics[0].partitions *= 100
    for asked in (few, many):
        connection.send(asked)
    assert calls_of(lambda: connection.best_version(few)) == calls_of(lambda: connection.best_version(many))


REFUSED = "no version of Metadata is negotiated: the ApiVersionsResponse had the error INVALID_REQUEST (42)"


@pytest.mark.parametrize(
    ("asked", "version", "hint"),
    [
        (
            ApiVersionsRequest(),
            None,
            "; brokers require client_software_name and client_software_version in an ApiVersionsRequest",
        ),
        (ApiVersionsRequest(), 2, ""),
        (ApiVersionsRequest(client_software_name="n", client_software_version="1"), None, ""),
    ],
)
def test_failed_api_versions_error_is_reported_on_send(
    asked: ApiVersionsRequest, version: int | None, hint: str
) -> None:
    connection, server = ClientConnection(), ServerConnection()
    [received] = server.receive_data(connection.send(asked, version).data)
    assert isinstance(received, RequestReceived)
    list(connection.receive_data(server.send(received, ApiVersionsResponse(error_code=42))))
    with pytest.raises(LocalProtocolError) as caught:
        connection.send(MetadataRequest())
    assert str(caught.value) == REFUSED + hint


def test_response_is_rejected_as_request() -> None:
    wrong: Any = MetadataResponse()
    for connection in (ClientConnection(), client()):
        for ask in (connection.send, connection.best_version):
            with pytest.raises(EncodeError, match=r"^MetadataResponse: this message is not a request$"):
                ask(wrong)
