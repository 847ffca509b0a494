"""Exchanges as text and HTML: lines, bounds, secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from kafka_messages import (
    AlterConfigsRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    ProduceRequest,
    ProduceResponse,
    Response,
    SaslAuthenticateRequest,
)
from kafka_messages.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_messages.protocol import DecodedRequest, decode_request, encode_request, encode_response
from kafka_records import Record, write_batch

from kafka_messages_tools.capture import open_capture
from kafka_messages_tools.conversation import RecordedExchange, render
from tests.support.captures import captured

START = 1_700_000_000.25
PASSWORD = "hunter2hunter2"


@dataclass
class Recorded:
    """Exchange of a test."""

    decoded: DecodedRequest
    request_data: bytes
    response: Response | None
    response_data: bytes
    received_at: float = START
    answered_at: float | None = START + 0.0015
    outcome: str = ""
    client_id: str | None = "billing-1"
    broker: str = "node 1"


def exchange(request: Any, version: int, response: Response | None = None, **more: Any) -> RecordedExchange:
    frame = encode_request(request, version, 7, "billing-1")
    data = b"" if response is None else encode_response(response, version, 7)
    more = {} if response is not None else {"answered_at": None} | more
    return Recorded(decode_request(frame[4:]), frame, response, data, **more)


def commit(code: int = 0, offset: int = 3, **more: Any) -> RecordedExchange:
    kind, answer = OffsetCommitRequest, OffsetCommitResponse
    part = kind.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    request = kind(
        group_id="billing",
        generation_id_or_member_epoch=2,
        member_id="m-1",
        topics=[kind.OffsetCommitRequestTopic(name="orders", partitions=[part])],
    )
    failed = answer.OffsetCommitResponsePartition(partition_index=0, error_code=code)
    topics = [answer.OffsetCommitResponseTopic(name="orders", partitions=[failed])]
    made = exchange(request, 9, answer(topics=topics))
    for name, value in more.items():
        setattr(made, name, value)
    return made


def heartbeat(**more: Any) -> RecordedExchange:
    made = exchange(HeartbeatRequest(group_id="billing", generation_id=2, member_id="m-1"), 4, HeartbeatResponse())
    for name, value in more.items():
        setattr(made, name, value)
    return made


def test_line_has_time_client_broker_api_result_rule_and_duration() -> None:
    assert render([commit(22, outcome="fail ILLEGAL_GENERATION")]).splitlines() == [
        "22:13:20.250 billing-1 → node 1  OffsetCommit v9  ILLEGAL_GENERATION  rule: fail ILLEGAL_GENERATION  1.5 ms",
        "    → group_id=billing generation_id_or_member_epoch=2 member_id=m-1 "
        "topics=[orders partitions=[0 committed_offset=3]]",
        "    ← topics=[orders partitions=[0 ILLEGAL_GENERATION]]",
    ]


def test_offset_zero_is_printed() -> None:
    assert "committed_offset=0" in render([commit(offset=0)])


def test_records_are_counted_and_their_content_is_not_printed() -> None:
    batch = write_batch([Record(value=b"paid"), Record(value=b"sent")])
    kind = ProduceRequest
    data = [kind.TopicProduceData(name="orders", partition_data=[kind.PartitionProduceData(index=1, records=batch)])]
    text = render([exchange(kind(acks=-1, topic_data=data), 9, ProduceResponse())])
    assert text.splitlines()[1] == (
        f"    → acks=-1 topic_data=[orders partition_data=[1 records=<2 records, {len(batch)} bytes>]]"
    )


def test_subscription_of_a_group_member_is_decoded() -> None:
    kind = JoinGroupRequest
    metadata = b"\x00\x01" + ConsumerProtocolSubscription(topics=["orders"]).write(1)
    protocols = [kind.JoinGroupRequestProtocol(name="range", metadata=metadata)]
    request = kind(group_id="billing", protocol_type="consumer", protocols=protocols)
    assert render([exchange(request, 5)]).splitlines() == [
        "22:13:20.250 billing-1 → node 1  JoinGroup v5  no response",
        "    → group_id=billing protocols=[range metadata=[topics=[orders]]]",
    ]


def test_request_without_acknowledgment_has_no_response() -> None:
    assert render([exchange(ProduceRequest(acks=0), 9)]).splitlines()[0].endswith("Produce v9  no response is sent")


def test_equal_exchanges_are_one_line() -> None:
    beats = [heartbeat(received_at=START + at, answered_at=START + at, broker=f"node {at % 2}") for at in range(6)]
    lines = render([*beats, commit(22), commit(22), heartbeat(broker="node 1")]).splitlines()
    assert [line for line in lines if not line.startswith("    ")] == [
        "22:13:20.250 billing-1 → node 0  Heartbeat v4     ok  0.0 ms  3 times until 22:13:24.250",
        "22:13:21.250 billing-1 → node 1  Heartbeat v4     ok  0.0 ms  3 times until 22:13:25.250",
        "22:13:20.250 billing-1 → node 1  OffsetCommit v9  ILLEGAL_GENERATION  1.5 ms  2 times until 22:13:20.250",
        "22:13:20.250 billing-1 → node 1  Heartbeat v4     ok  1.5 ms",
    ]


def test_lines_that_matter_are_kept_and_gaps_are_counted() -> None:
    many = [commit(offset=number) for number in range(10)]
    many[2] = commit(22, 2)
    many[4] = commit(offset=4, outcome="delay 1 s")
    lines = [line for line in render(many, limit=3).splitlines() if not line.startswith("    ")]
    assert lines == [
        "… 2 exchanges left out",
        "22:13:20.250 billing-1 → node 1  OffsetCommit v9  ILLEGAL_GENERATION  1.5 ms",
        "… 1 exchange left out",
        "22:13:20.250 billing-1 → node 1  OffsetCommit v9  ok  rule: delay 1 s  1.5 ms",
        "… 4 exchanges left out",
        "22:13:20.250 billing-1 → node 1  OffsetCommit v9  ok  1.5 ms",
    ]


def test_only_the_last_exchanges_are_read() -> None:
    assert render((commit(offset=number) for number in range(5010)), limit=1).startswith("… 5009 exchanges left out\n")


def test_large_messages_are_short() -> None:
    kind = MetadataRequest
    topics = [kind.MetadataRequestTopic(name=f"{'x' * 200}{number}") for number in range(1000)]
    text = render([exchange(kind(topics=topics), 9)], width=80)
    assert len(text.splitlines()) == 4
    assert max(map(len, text.splitlines())) <= 80
    everything = render([exchange(kind(topics=topics), 9)], explain=True)
    assert len(everything.splitlines()) < 100
    assert "lines left out" in everything


@pytest.mark.parametrize("form", ["text", "html"])
@pytest.mark.parametrize("explain", [False, True])
def test_secrets_are_redacted(form: Any, explain: bool) -> None:
    kind = AlterConfigsRequest
    config = kind.AlterableConfig(name="ssl.keystore.password", value=PASSWORD)
    resource = kind.AlterConfigsResource(resource_type=4, resource_name="1", configs=[config])
    found = [
        exchange(kind(resources=[resource]), 2),
        exchange(SaslAuthenticateRequest(auth_bytes=f"\0user\0{PASSWORD}".encode()), 2),
    ]
    text = render(found, form=form, explain=explain)
    assert "ssl.keystore.password value=(redacted)" in text
    assert PASSWORD not in text
    assert PASSWORD.encode().hex(" ")[:20] not in text
    shown = render(found, form=form, explain=explain, show_secrets=True)
    assert f"ssl.keystore.password value={PASSWORD}" in shown


def test_explanation_follows_the_line() -> None:
    lines = render([commit(22)], explain=True).splitlines()
    assert lines[3:6] == [
        "    request",
        "    OffsetCommitRequest v9",
        "    0000  00 00 00 42              ...B      frame_length                      66  as many bytes follow  INT32",
    ]
    assert "    response" in lines
    assert any("22  ILLEGAL_GENERATION  INT16" in line for line in lines)


def test_damaged_response_is_explained() -> None:
    lines = render([commit(response_data=commit().response_data[:9])], explain=True).splitlines()
    assert lines[-1] == "    0009  the frame has 27 bytes, but 5 follow"


def test_control_characters_are_escaped() -> None:
    text = render([commit(client_id="\x1b[31m<b>", outcome="fail \x07")])
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\u001b[31m<b> → node 1" in text


def test_color_marks_errors_only() -> None:
    assert "\x1b[1;31mILLEGAL_GENERATION\x1b[0m" in render([commit(22)], color=True)
    assert "\x1b[1;31m" not in render([commit()], color=True)


@pytest.mark.parametrize("explain", [False, True])
def test_colors_in_messages_are_escaped(explain: bool) -> None:
    red = "\x1b[1;31mred\x9b0m\u202e"
    request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=red)])
    response = MetadataResponse(cluster_id=red, topics=[MetadataResponse.MetadataResponseTopic(name=red)])
    text = render([exchange(request, 12, response, client_id=red)], color=True, explain=explain)
    assert "\x1b[1;31mred" not in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\n", "").isprintable()
    assert text.count("u001b[1;31mred") == 2


def test_html_escapes_names_and_marks_errors() -> None:
    page = render([commit(22, client_id="<b>", outcome="fail")], form="html", title="a < b", explain=True)
    assert "<title>a &lt; b</title>" in page
    assert '<div class="exchange error rule">' in page
    assert "&lt;b&gt; → node 1" in page
    assert "<b>" not in page.replace("<b>OffsetCommit v9</b>", "")
    assert "<details><summary>bytes of the response <small>" in page
    assert '<th colspan="5" scope="rowgroup">OffsetCommitResponse v9</th>' in page


def test_captured_exchanges_are_rendered() -> None:
    with open_capture(captured("kafka-python.pcap")) as capture:
        lines = render(capture, limit=40).splitlines()
    assert lines[0] == "… 20 exchanges left out"
    assert "05:43:20.360 py-scram-sha-256 → 127.0.0.1:39157  OffsetCommit v8      ok  27.3 ms" in lines


def test_no_exchanges() -> None:
    assert render([]) == "no exchanges\n"
    assert "<p>No exchanges.</p>" in render([], form="html")


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^form must be 'text' or 'html', not 'pdf'$"):
        render([], form="pdf")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^limit must be at least 1, not 0$"):
        render([], limit=0)
