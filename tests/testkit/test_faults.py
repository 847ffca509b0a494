"""Rules, through a proxy in front of a broker that answers everything with success."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
import threading
import time
from collections.abc import Iterator
from operator import attrgetter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import (
    DescribeGroupsRequest,
    FetchRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    ProduceRequest,
    Request,
)
from kafka_messages.connection import ClientConnection, error_codes, error_response
from kafka_messages.protocol import Api, ErrorCode, apis, encode_request
from kafka_messages.schema import FieldDescriptor
from kafka_messages_testkit import KafkaCluster, KafkaProxy, Rule, UnusedRuleError
from kafka_records import BatchDecodeError, ChecksumError, read_batches

from tests.support.filled import filled
from tests.support.testkit_broker import BATCH, Broker, asked, broker, client

pytestmark = pytest.mark.filterwarnings("ignore:Kafka never returns")
ERROR = ErrorCode.COORDINATOR_NOT_AVAILABLE
HEARTBEAT = HeartbeatRequest(group_id="billing", member_id="one", generation_id=3)
TOPIC_ID = UUID(int=7)


def commit(*partitions: tuple[str, int], group: str = "billing") -> OffsetCommitRequest:
    """Return a request that commits offset 5 of each partition."""
    kind = OffsetCommitRequest
    names = dict.fromkeys(name for name, _ in partitions)
    topics = [
        kind.OffsetCommitRequestTopic(
            name=topic,
            partitions=[
                kind.OffsetCommitRequestPartition(partition_index=index, committed_offset=5)
                for name, index in partitions
                if name == topic
            ],
        )
        for topic in names
    ]
    return kind(group_id=group, topics=topics)


def codes(response: Any) -> dict[tuple[str, int], int]:
    return {
        (topic.name, each.partition_index): each.error_code for topic in response.topics for each in topic.partitions
    }


def partitions_of(request: Any) -> list[tuple[str, int]]:
    return [(topic.name, each.partition_index) for topic in request.topics for each in topic.partitions]


@pytest.fixture
def behind() -> Iterator[Broker]:
    with broker() as made:
        yield made


@pytest.fixture
def proxy(behind: Broker) -> Iterator[KafkaProxy]:
    with KafkaProxy(behind.address, seed=1) as made:
        yield made


def has_codes(each: Api) -> bool:
    if each.is_removed or not each.response_name or not each.stable_versions or each.name == "ApiVersions":
        return False
    return any(error_codes(filled(each.response_class, value), version=each.stable_versions.highest))


def value(field: FieldDescriptor) -> Any:
    """Return a valid value of a field."""
    if field.name == "acks":
        return 1
    values = {"string": "a", "uuid": TOPIC_ID, "bytes": b"", "records": BATCH, "bool": False, "float64": 0.5}
    return values.get(field.type, 0)


@pytest.mark.parametrize("each", [each for each in apis() if has_codes(each)], ids=lambda each: each.name)
def test_each_api_can_fail_with_any_code(behind: Broker, proxy: KafkaProxy, each: Api) -> None:
    version = each.stable_versions.highest
    request = filled(each.request_class, value).downgraded(version)
    rule = proxy.on(each.request_class).fail(ERROR)
    [response] = asked(proxy.bootstrap_servers, request, version=version)
    assert response == error_response(request, ERROR, version=version)
    assert rule.call_count == 1
    assert rule.calls[0].response == response
    assert rule.calls[0].outcome == "fail COORDINATOR_NOT_AVAILABLE"
    assert behind.requests == []


def test_a_rule_acts_once_unless_told_otherwise(behind: Broker, proxy: KafkaProxy) -> None:
    proxy.on(HeartbeatRequest).fail(ERROR)
    responses = asked(proxy.bootstrap_servers, HEARTBEAT, HEARTBEAT)
    assert responses == [HeartbeatResponse(error_code=ERROR), HeartbeatResponse()]
    assert behind.requests == [HEARTBEAT]


@pytest.mark.parametrize(
    ("frequency", "affected"),
    [
        ({"times": 2}, [0, 1]),
        ({"times": None}, [0, 1, 2, 3, 4, 5]),
        ({"nth": 3}, [2]),
        ({"nth": 2, "times": None, "every": 2}, [1, 3, 5]),
        ({"every": 3, "times": 2}, [0, 3]),
    ],
)
def test_frequency_selects_requests(proxy: KafkaProxy, frequency: Any, affected: list[int]) -> None:
    proxy.on(HeartbeatRequest, **frequency).fail(ERROR)
    responses = asked(proxy.bootstrap_servers, *[HEARTBEAT] * 6)
    assert [number for number, each in enumerate(responses) if each.error_code] == affected


def test_the_seed_repeats_a_probability(behind: Broker) -> None:
    def chosen(seed: int) -> list[int]:
        with KafkaProxy(behind.address, seed=seed) as proxy:
            proxy.on(HeartbeatRequest, times=None, probability=0.5).fail(ERROR)
            responses = asked(proxy.bootstrap_servers, *[HEARTBEAT] * 40)
        return [number for number, each in enumerate(responses) if each.error_code]

    assert chosen(1) == chosen(1) != chosen(2)
    assert 5 < len(chosen(1)) < 35


def test_the_first_rule_that_matches_acts_and_observers_count_all(proxy: KafkaProxy) -> None:
    observed = proxy.on(HeartbeatRequest).observe()
    proxy.on(HeartbeatRequest, group="other", optional=True).fail(ErrorCode.NOT_COORDINATOR)
    first = proxy.on(HeartbeatRequest).fail(ERROR)
    second = proxy.on(HeartbeatRequest).fail(ErrorCode.REBALANCE_IN_PROGRESS)
    responses = asked(proxy.bootstrap_servers, *[HEARTBEAT] * 3)
    assert [each.error_code for each in responses] == [ERROR, ErrorCode.REBALANCE_IN_PROGRESS, 0]
    assert [observed.call_count, first.call_count, second.call_count] == [3, 1, 1]
    assert [each.outcome for each in observed.calls] == [
        "fail COORDINATOR_NOT_AVAILABLE",
        "fail REBALANCE_IN_PROGRESS",
        "",
    ]


def test_selected_partitions_fail_and_the_broker_gets_the_others(behind: Broker, proxy: KafkaProxy) -> None:
    proxy.on(OffsetCommitRequest, topic="a", partition=1).fail(ERROR)
    [response] = asked(proxy.bootstrap_servers, commit(("a", 0), ("a", 1), ("b", 1)), version=9)
    assert codes(response) == {("a", 0): 0, ("a", 1): ERROR, ("b", 1): 0}
    assert [partitions_of(each) for each in behind.requests] == [[("a", 0), ("b", 1)]]


def test_a_request_of_selected_partitions_only_does_not_reach_the_broker(behind: Broker, proxy: KafkaProxy) -> None:
    proxy.on(OffsetCommitRequest, topic="a").fail(ERROR)
    [response] = asked(proxy.bootstrap_servers, commit(("a", 0), ("a", 1)), version=9)
    assert codes(response) == {("a", 0): ERROR, ("a", 1): ERROR}
    assert behind.requests == []


def test_an_applied_failure_reaches_the_broker_as_a_whole(behind: Broker, proxy: KafkaProxy) -> None:
    request = commit(("a", 0), ("b", 0))
    proxy.on(OffsetCommitRequest, topic="b").fail(ERROR, applied=True)
    [response] = asked(proxy.bootstrap_servers, request, version=9)
    assert codes(response) == {("a", 0): 0, ("b", 0): ERROR}
    assert behind.requests == [request]


def test_one_of_several_groups_fails(behind: Broker, proxy: KafkaProxy) -> None:
    proxy.on(DescribeGroupsRequest, group="b").fail(ERROR)
    [response] = asked(proxy.bootstrap_servers, DescribeGroupsRequest(groups=["a", "b"]))
    assert {each.group_id: each.error_code for each in response.groups} == {"a": 0, "b": ERROR}


PARTITIONS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=8, unique=True)


@settings(max_examples=40, deadline=None)
@given(PARTITIONS, st.sampled_from("abc"), st.none() | st.integers(0, 3), st.booleans())
def test_every_partition_is_answered_once(
    named: list[tuple[str, int]], topic: str, partition: int | None, applied: bool
) -> None:
    selected = {each for each in named if each[0] == topic and partition in (None, each[1])}
    with broker() as behind, KafkaProxy(behind.address) as proxy:
        proxy.on(OffsetCommitRequest, topic=topic, partition=partition, optional=True).fail(ERROR, applied)
        [response] = asked(proxy.bootstrap_servers, commit(*named), version=9)
    assert codes(response) == {each: ERROR if each in selected else 0 for each in named}
    assert sum(len(each.partitions) for each in response.topics) == len(named)
    reached = [each for request in behind.requests for each in partitions_of(request)]
    assert set(reached) == set(named) - (set() if applied else selected)


def test_a_topic_is_selected_by_its_id(behind: Broker, proxy: KafkaProxy) -> None:
    kind = FetchRequest
    topics = [
        kind.FetchTopic(topic_id=UUID(int=number), partitions=[kind.FetchPartition(partition=0)]) for number in (7, 8)
    ]
    proxy.on(FetchRequest, topic_id=TOPIC_ID).fail(ErrorCode.UNKNOWN_TOPIC_ID)
    [response] = asked(proxy.bootstrap_servers, kind(topics=topics), version=13)
    found = {each.topic_id: each.partitions[0].error_code for each in response.responses}
    assert found == {TOPIC_ID: ErrorCode.UNKNOWN_TOPIC_ID, UUID(int=8): 0}


def test_a_topic_id_selects_the_topic_in_versions_without_ids() -> None:
    with KafkaCluster(topics={"a": 1, "b": 1}) as cluster:
        [metadata] = asked(cluster.bootstrap_servers, MetadataRequest(topics=None))
        ids = {each.name: each.topic_id for each in metadata.topics}
        cluster.on(FetchRequest, topic_id=ids["a"]).fail(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        [response] = asked(cluster.bootstrap_servers, fetch("b", "a"), version=12)
    assert {each.topic: each.partitions[0].error_code for each in response.responses} == {"a": 3, "b": 0}


@pytest.mark.parametrize(
    ("selectors", "is_affected"),
    [
        ({"group": "billing"}, True),
        ({"group": "other"}, False),
        ({"client_id": "app"}, True),
        ({"client_id": "other"}, False),
        ({"when": lambda request: request.generation_id == 3}, True),
        ({"when": lambda request: request.generation_id == 4}, False),
        ({"node_id": 5}, False),
    ],
)
def test_selectors_are_combined_with_the_class(proxy: KafkaProxy, selectors: Any, is_affected: bool) -> None:
    rule = proxy.on(HeartbeatRequest, optional=True, **selectors).fail(ERROR)
    asked(proxy.bootstrap_servers, HEARTBEAT, connection=ClientConnection("app"))
    assert rule.called is is_affected


def test_a_delayed_response_comes_later(behind: Broker, proxy: KafkaProxy) -> None:
    proxy.on(HeartbeatRequest).delay(0.2)
    begin = time.monotonic()
    assert asked(proxy.bootstrap_servers, HEARTBEAT) == [HeartbeatResponse()]
    assert time.monotonic() - begin >= 0.2
    assert behind.requests == [HEARTBEAT]


def test_a_throttled_response_has_its_throttle_time(proxy: KafkaProxy) -> None:
    proxy.on(HeartbeatRequest).throttle(250)
    assert asked(proxy.bootstrap_servers, HEARTBEAT) == [HeartbeatResponse(throttle_time_ms=250)]


@pytest.mark.parametrize(("applied", "reached"), [(False, []), (True, [HEARTBEAT])])
def test_a_disconnected_client_gets_no_response(
    behind: Broker, proxy: KafkaProxy, applied: bool, reached: list[Any]
) -> None:
    proxy.on(HeartbeatRequest).disconnect(applied=applied)
    with pytest.raises(
        ConnectionError, match=r"HeartbeatRequest: the connection to .* has ended: the broker has closed it"
    ):
        asked(proxy.bootstrap_servers, HEARTBEAT)
    assert behind.requests == reached


def exchanged(servers: str, *requests: Any, version: int = 4) -> bytes:
    """Send requests without reading; return all bytes until the end of the connection."""
    host, _, port = servers.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        for number, each in enumerate(requests):
            client.sendall(encode_request(each, version, number, client_id="raw"))
        return b"".join(iter(lambda: client.recv(4096), b""))


@pytest.mark.parametrize("size", [0, 3, 7])
def test_a_response_is_cut_after_some_bytes(behind: Broker, proxy: KafkaProxy, size: int) -> None:
    rule = proxy.on(HeartbeatRequest).disconnect(after_bytes=size)
    whole = bytes.fromhex("0000000c 00000000 00 00000000 0000 00")
    assert exchanged(proxy.bootstrap_servers, HEARTBEAT) == whole[:size]
    assert rule.calls[0].response_data == whole[:size]
    assert behind.requests == [HEARTBEAT]


def test_a_corrupt_length_is_sent_before_the_connection_ends(proxy: KafkaProxy) -> None:
    proxy.on(HeartbeatRequest).corrupt("length")
    data = exchanged(proxy.bootstrap_servers, HEARTBEAT)
    assert data == bytes.fromhex("0000010c 00000000 00 00000000 0000 00")


@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_a_chosen_byte_of_the_length_is_damaged(proxy: KafkaProxy, offset: int) -> None:
    proxy.on(HeartbeatRequest).corrupt("length", offset)
    data = exchanged(proxy.bootstrap_servers, HEARTBEAT)
    assert [place for place, byte in enumerate(data[:4]) if byte != (0, 0, 0, 12)[place]] == [offset]


def fetch(*topics: str) -> FetchRequest:
    kind = FetchRequest
    return kind(topics=[kind.FetchTopic(topic=each, partitions=[kind.FetchPartition(partition=0)]) for each in topics])


def fetched(response: Any) -> dict[str, bytes]:
    return {each.topic: bytes(each.partitions[0].records) for each in response.responses}


@pytest.mark.parametrize("part", ["records", "checksum"])
def test_corrupt_records_have_a_wrong_checksum(proxy: KafkaProxy, part: Any) -> None:
    proxy.on(FetchRequest, topic="a").corrupt(part)
    [response] = asked(proxy.bootstrap_servers, fetch("a", "b"), version=12)
    records = fetched(response)
    assert records["b"] == BATCH
    with pytest.raises(ChecksumError):
        list(read_batches(records["a"]))
    changed = [place for place, pair in enumerate(zip(records["a"], BATCH, strict=True)) if pair[0] != pair[1]]
    assert len(changed) == 1
    assert (17 <= changed[0] < 21) is (part == "checksum")


def test_a_chosen_byte_of_the_records_is_damaged(proxy: KafkaProxy) -> None:
    proxy.on(FetchRequest).corrupt("records", 0)
    [response] = asked(proxy.bootstrap_servers, fetch("a"), version=12)
    assert fetched(response)["a"] == BATCH[:61] + bytes([BATCH[61] ^ 1]) + BATCH[62:]
    with pytest.raises(BatchDecodeError):
        list(read_batches(fetched(response)["a"]))


def test_dropped_requests_are_never_answered(behind: Broker, proxy: KafkaProxy) -> None:
    rule = proxy.on(HeartbeatRequest).drop()
    with pytest.raises(TimeoutError, match=r"HeartbeatRequest: no response from .* within 0\.1 s"):
        asked(proxy.bootstrap_servers, HEARTBEAT, request_timeout=0.1)
    assert rule.called
    assert behind.requests == []
    assert asked(proxy.bootstrap_servers, HEARTBEAT) == [HeartbeatResponse()]


def test_held_requests_continue_when_released(behind: Broker, proxy: KafkaProxy) -> None:
    async def run() -> Any:
        rule = proxy.on(HeartbeatRequest, times=None).hold()
        async with await client(proxy.bootstrap_servers) as one, await client(proxy.bootstrap_servers) as two:
            held = asyncio.create_task(one.request(HEARTBEAT))
            await rule.wait_async()
            other = await two.request(MetadataRequest())
            reached = list(behind.requests)
            rule.release()
            return await held, await one.request(HEARTBEAT), other, reached

    held, later, other, reached = asyncio.run(run())
    assert [held, later] == [HeartbeatResponse(), HeartbeatResponse()]
    assert reached == [MetadataRequest()]
    assert type(other).__name__ == "MetadataResponse"


def test_a_removed_rule_neither_acts_nor_has_to_be_used(proxy: KafkaProxy) -> None:
    proxy.on(HeartbeatRequest).fail(ERROR).remove()
    assert asked(proxy.bootstrap_servers, HEARTBEAT) == [HeartbeatResponse()]


def test_a_function_answers_or_lets_the_broker_answer(behind: Broker, proxy: KafkaProxy) -> None:
    def answer(request: HeartbeatRequest) -> HeartbeatResponse | None:
        return HeartbeatResponse(throttle_time_ms=9) if request.generation_id == 3 else None

    proxy.on(HeartbeatRequest, times=None).respond(answer)
    responses = asked(proxy.bootstrap_servers, HEARTBEAT, HeartbeatRequest(group_id="billing"))
    assert responses == [HeartbeatResponse(throttle_time_ms=9), HeartbeatResponse()]
    assert behind.requests == [HeartbeatRequest(group_id="billing")]


def test_an_exception_of_a_function_is_raised_at_the_end(behind: Broker) -> None:
    def answer(request: HeartbeatRequest) -> HeartbeatResponse:
        raise LookupError(f"no answer for generation {request.generation_id}")

    with (
        pytest.raises(LookupError, match=r"^no answer for generation 3$") as caught,
        KafkaProxy(behind.address) as proxy,
    ):
        proxy.on(HeartbeatRequest).respond(answer)
        with pytest.raises(ConnectionError):
            asked(proxy.bootstrap_servers, HEARTBEAT)
    assert caught.traceback[-1].name == "answer"


def test_several_exceptions_are_raised_as_a_group_once_each(behind: Broker) -> None:
    """A client that repeats its request does not repeat the traceback."""
    with pytest.raises(ExceptionGroup, match=r"^failed requests") as caught, KafkaProxy(behind.address) as proxy:
        for name in ("generation", "generation", "member"):
            wrong = proxy.on(HeartbeatRequest, when=attrgetter(name)).observe()
            with pytest.raises(ConnectionError):
                asked(proxy.bootstrap_servers, HEARTBEAT)
            wrong.remove()
    assert [str(each) for each in caught.value.exceptions] == [
        "'HeartbeatRequest' object has no attribute 'generation'",
        "'HeartbeatRequest' object has no attribute 'member'",
    ]


def test_change_gets_the_response_of_the_broker(behind: Broker, proxy: KafkaProxy) -> None:
    def throttled(request: HeartbeatRequest, response: HeartbeatResponse) -> HeartbeatResponse:
        return HeartbeatResponse(throttle_time_ms=request.generation_id, error_code=response.error_code)

    rule = proxy.on(HeartbeatRequest).change(throttled)
    assert asked(proxy.bootstrap_servers, HEARTBEAT) == [HeartbeatResponse(throttle_time_ms=3)]
    assert behind.requests == [HEARTBEAT]
    assert rule.calls[0].outcome == "change"


def test_change_must_return_a_response_of_the_api(behind: Broker) -> None:
    message = "^" + re.escape("change() must return HeartbeatResponse, not None") + "$"
    with pytest.raises(TypeError, match=message), KafkaProxy(behind.address) as proxy:
        function: Any = lambda request, response: None  # noqa: E731
        proxy.on(HeartbeatRequest).change(function)
        with pytest.raises(ConnectionError):
            asked(proxy.bootstrap_servers, HEARTBEAT)


def test_a_response_of_another_type_is_refused(behind: Broker) -> None:
    message = "^" + re.escape("respond() must return HeartbeatResponse or None, not OffsetCommitResponse(")
    with pytest.raises(TypeError, match=message), KafkaProxy(behind.address) as proxy:
        proxy.on(HeartbeatRequest).respond(lambda request: OffsetCommitResponse())
        with pytest.raises(ConnectionError):
            asked(proxy.bootstrap_servers, HEARTBEAT)


def test_an_unused_rule_is_an_error(behind: Broker) -> None:
    expected = (
        "unused: <Rule on(HeartbeatRequest, group='billing'): fail COORDINATOR_NOT_AVAILABLE, 0 requests>; "
        "correct the arguments of on(), or pass optional=True"
    )
    with pytest.raises(UnusedRuleError, match="^" + re.escape(expected) + "$"), KafkaProxy(behind.address) as proxy:
        proxy.on(HeartbeatRequest, group="billing").fail(ERROR)
        proxy.on(HeartbeatRequest, optional=True).fail(ERROR)
        proxy.on(HeartbeatRequest).observe()


def test_an_unused_rule_does_not_hide_an_exception(behind: Broker) -> None:
    with pytest.raises(ZeroDivisionError), KafkaProxy(behind.address) as proxy:
        proxy.on(HeartbeatRequest).fail(ERROR)
        raise ZeroDivisionError


def test_waiting_for_a_rule_ends(proxy: KafkaProxy) -> None:
    rule = proxy.on(HeartbeatRequest, optional=True).fail(ERROR)
    message = "^" + re.escape(f"{rule} affected no request within 0.01 s") + "$"
    with pytest.raises(TimeoutError, match=message):
        rule.wait(0.01)
    with pytest.raises(TimeoutError, match=message):
        asyncio.run(rule.wait_async(0.01))
    asked(proxy.bootstrap_servers, HEARTBEAT)
    assert rule.wait(0.01) is rule.calls[-1]


REFUSED = [
    (lambda on: on(HeartbeatRequest, topic="a"), "HeartbeatRequest has no topic; remove the selector topic"),
    (
        lambda on: on(HeartbeatRequest, topic_id=TOPIC_ID),
        "HeartbeatRequest has no topic id; remove the selector topic_id",
    ),
    (lambda on: on(HeartbeatRequest, partition=0), "HeartbeatRequest has no partition; remove the selector partition"),
    (lambda on: on(MetadataRequest, group="a"), "MetadataRequest has no group; remove the selector group"),
    (
        lambda on: on(HeartbeatRequest, transactional_id="a"),
        "HeartbeatRequest has no transactional id; remove the selector transactional_id",
    ),
    (lambda on: on(HeartbeatRequest, nth=0), "nth must be a number from 1 on, not 0"),
    (lambda on: on(HeartbeatRequest, times=0), "times must be a number from 1 on, not 0"),
    (lambda on: on(HeartbeatRequest, every=True), "every must be a number from 1 on, not True"),
    (lambda on: on(HeartbeatRequest, probability=0), "probability must be above 0 and at most 1, not 0"),
    (lambda on: on(HeartbeatRequest).fail(0), "error code 0 means success; pass the code of an error"),
    (
        lambda on: on(HeartbeatRequest).fail(1 << 15),
        "code must be an int16, such as ErrorCode.NOT_COORDINATOR, not 32768",
    ),
    (lambda on: on(HeartbeatRequest).delay(-1), "seconds must be 0 or more, not -1"),
    (lambda on: on(HeartbeatRequest).delay(float("nan")), "seconds must be 0 or more, not nan"),
    (lambda on: on(HeartbeatRequest).throttle(-1), "milliseconds must be an int32 from 0 on, not -1"),
    (lambda on: on(HeartbeatRequest).corrupt(), "HeartbeatResponse has no records; pass part='length'"),
    (lambda on: on(FetchRequest).corrupt("crc"), "part must be one of records, length, checksum, not 'crc'"),
    (lambda on: on(FetchRequest).corrupt("length", 4), "a frame length has 4 bytes; there is no byte 4"),
    (lambda on: on(FetchRequest).corrupt("checksum", 4), "a checksum has 4 bytes; there is no byte 4"),
    (lambda on: on(FetchRequest).disconnect(after_bytes=-1), "after_bytes must be a number from 0 on, not -1"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_impossible_rules_are_refused_when_they_are_made(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        make(KafkaProxy("localhost:9092").on)


def test_only_request_classes_are_accepted() -> None:
    on: Any = KafkaProxy("localhost:9092").on
    message = re.escape("expected the class of a request, such as FetchRequest, not ")
    for wrong in (HeartbeatResponse, Request, HEARTBEAT, "Heartbeat", None):
        with pytest.raises(TypeError, match="^" + message):
            on(wrong)


@pytest.mark.parametrize(
    ("selectors", "message"),
    [
        ({"topic": b"orders"}, "topic must be str, not b'orders'"),
        ({"topic_id": str(TOPIC_ID)}, f"topic_id must be UUID, not '{TOPIC_ID}'"),
        ({"partition": "0"}, "partition must be int, not '0'"),
        ({"client_id": 1}, "client_id must be str, not 1"),
        ({"node_id": "1"}, "node_id must be int, not '1'"),
        ({"when": True}, "when must be a function of the request, not True"),
    ],
)
def test_selectors_of_another_type_are_refused(selectors: Any, message: str) -> None:
    with pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
        KafkaProxy("localhost:9092").on(FetchRequest, **selectors)


def test_only_rules_with_hold_are_released() -> None:
    rule: Rule = KafkaProxy("localhost:9092").on(HeartbeatRequest).fail(ERROR)
    with pytest.raises(TypeError, match=re.escape("0 requests> holds no requests")):
        rule.release()


@pytest.mark.parametrize(
    ("make", "reached"),
    [
        (lambda trigger: trigger.fail(ERROR), 0),
        (lambda trigger: trigger.fail(ERROR, applied=True), 1),
        (lambda trigger: trigger.disconnect(), 0),
        (lambda trigger: trigger.disconnect(applied=True), 1),
        (lambda trigger: trigger.disconnect(after_bytes=3), 1),
    ],
)
def test_a_request_without_a_response_is_disconnected_when_it_fails(
    behind: Broker, proxy: KafkaProxy, caplog: pytest.LogCaptureFixture, make: Any, reached: int
) -> None:
    topic = ProduceRequest.TopicProduceData(
        name="a", partition_data=[ProduceRequest.PartitionProduceData(index=0, records=BATCH)]
    )
    rule = make(proxy.on(ProduceRequest))
    assert exchanged(proxy.bootstrap_servers, ProduceRequest(acks=0, topic_data=[topic]), version=9) == b""
    assert rule.call_count == 1
    asked(proxy.bootstrap_servers, HEARTBEAT)
    assert [type(each) for each in behind.requests].count(ProduceRequest) <= reached
    gc.collect()
    assert caplog.text == ""


def test_a_function_of_a_rule_may_use_the_cluster() -> None:
    with KafkaCluster(topics={"a": 1}) as cluster:

        def answer(request: HeartbeatRequest) -> None:
            cluster.produce("a", b"from the function")

        cluster.on(HeartbeatRequest).respond(answer)
        asked(cluster.bootstrap_servers, HEARTBEAT)
        assert [each.value for each in cluster.records("a")] == [b"from the function"]


def test_a_function_of_a_rule_cannot_wait() -> None:
    message = r"^a function of a rule cannot wait for this$"
    with pytest.raises(RuntimeError, match=message), KafkaCluster(2) as cluster:
        cluster.on(HeartbeatRequest).respond(lambda request: cluster.stop_broker(2))
        with pytest.raises(ConnectionError):
            asked(cluster.bootstrap_servers, HEARTBEAT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # ports of a busy thread
def test_a_function_that_blocks_does_not_delay_the_end(caplog: pytest.LogCaptureFixture) -> None:
    blocked, ended = threading.Event(), threading.Event()

    def block(request: HeartbeatRequest) -> None:
        blocked.set()
        ended.wait(10)

    with KafkaCluster() as cluster:
        cluster.on(HeartbeatRequest).respond(block)
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=5) as stream:
            stream.sendall(encode_request(HEARTBEAT, 4, 1))
            assert blocked.wait(5)
        begin = time.monotonic()
    assert time.monotonic() - begin < 1.5
    assert "the thread 'KafkaCluster' is still busy" in caplog.text
    ended.set()
    thread = cluster._started()._thread
    thread.join(5)
    assert not thread.is_alive()
