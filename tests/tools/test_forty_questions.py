"""Forty questions about Kafka's protocol, each answered by one command line."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    OffsetCommitKey,
    ProduceRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    TopicRecord,
)
from kafka_messages.internal_topics import write_metadata_record
from kafka_messages.protocol import encode_request, encode_response

from tests.support.captures import captured
from tests.support.cluster import COMMITTED
from tests.support.command import BODY, FRAME, PassInput, RunCommand, rows
from tests.support.goldens import matches_golden
from tests.support.kafka_protocol import FETCH_VERSIONS
from tests.support.packets import Talk, pcap

LIBRDKAFKA = str(captured("librdkafka.pcap"))
GOLDENS = Path(__file__).parent / "goldens"
HEX = "00 00 00 19 00 12 00 03 00 00 00 07 00 02 6d 65 00 05 6a 61 76 61 06 34 2e 34 2e 30 00"
REQUEST = encode_request(ApiVersionsRequest(client_software_name="java", client_software_version="4.4.0"), 3, 7, "me")
SAME = "reads and writes the same bytes"
EXPLAINED = f"""\
ApiVersionsRequest v3 after a length and a header
  the length matches the bytes; API ApiVersions and version 3 in the header; {SAME}; printable strings: 3

ApiVersionsRequest v3
0000  00 00 00 19              ....      frame_length               25  as many bytes follow  INT32
                                         RequestHeader v2
0004  00 12                    ..          request_api_key          18  ApiVersions  INT16
0006  00 03                    ..          request_api_version      3  INT16
0008  00 00 00 07              ....        correlation_id           7  INT32
000c  00 02 6d 65              ..me        client_id                "me"  length 2  NULLABLE_STRING
0010  00                       .           _tagged_fields           none  TAG_SECTION
                                         ApiVersionsRequest v3
0011  05 6a 61 76 61           .java       client_software_name     "java"  length+1 = 5
                                                                    COMPACT_STRING
0016  06 34 2e 34 2e 30        .4.4.0      client_software_version  "4.4.0"  length+1 = 6
                                                                    COMPACT_STRING
001c  00                       .           _tagged_fields           none  TAG_SECTION
001d  end, 29 bytes
"""
PAYLOAD_NOTE = "note: the TCP payload from {} is read, without headers\n"


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def test_01_what_is_this_hex(run_command: RunCommand) -> None:
    assert run_command("explain", HEX) == (0, EXPLAINED, "")


def test_02_what_is_each_byte_of_this_frame(run_command: RunCommand) -> None:
    assert run_command("explain", "--frame", FRAME.hex()) == (0, EXPLAINED.partition("\n\n")[2], "")


def test_03_what_is_the_response_to_this_request(run_command: RunCommand) -> None:
    response = encode_response(ApiVersionsResponse(throttle_time_ms=5), 3, 7)[4:]
    out = run_command("explain", "--request", FRAME.hex(), response.hex())[1]
    assert out.splitlines()[:2] == ["ApiVersionsResponse v3", f"{'':41}ResponseHeader v0"]


def test_04_what_does_a_broker_answer_to_an_unknown_version_of_api_versions(run_command: RunCommand) -> None:
    request = encode_request(ApiVersionsRequest(), 3, 7, "me").replace(b"\0\x12\0\3", b"\0\x12\0\x63")
    response = bytes.fromhex("00000007 0023 00000000")
    out = run_command("explain", "--request", request.hex(), response.hex())[1]
    assert out.splitlines()[0] == "ApiVersionsResponse v0"


def test_05_which_error_is_35(run_command: RunCommand) -> None:
    assert run_command("errors", "35")[1].splitlines()[1] == "35    UNSUPPORTED_VERSION  2.2.0"


def test_06_what_does_error_16_mean_for_me(run_command: RunCommand) -> None:
    assert run_command("errors", "16") == (
        0,
        dedent("""\
            code  name             since
            16    NOT_COORDINATOR  2.2.0  retriable

            NOT_COORDINATOR: This broker is not the coordinator of the group or transactional id; find it again.
            """),
        "",
    )


def test_07_where_can_error_35_be(run_command: RunCommand) -> None:
    lines = run_command("errors", "35", "--fields")[1].splitlines()
    assert (lines[lines.index("AddOffsetsToTxnResponse") + 1].split()[0], max(map(len, lines)) <= 80) == (
        "error_code",
        True,
    )


def test_08_what_is_not_leader_in_an_old_log(run_command: RunCommand) -> None:
    assert "was NOT_LEADER_FOR_PARTITION until 2.6.0" in run_command("errors", "NOT_LEADER")[1]


def test_09_which_error_is_9999(run_command: RunCommand) -> None:
    assert run_command("errors", "9999") == (2, "", "kafka-messages: unknown error '9999'\n")


def test_10_what_changed_in_metadata_13(run_command: RunCommand) -> None:
    out = "MetadataRequest v12 and v13: no differences\nMetadataResponse v12 and v13\nerror_code\n  + INT16\n"
    assert run_command("diff", "Metadata", "12", "13") == (1, out, "")


def test_11_what_changed_in_its_request(run_command: RunCommand) -> None:
    out = "MetadataRequest v12 and v13: no differences\n"
    assert run_command("diff", "MetadataRequest", "12", "13") == (0, out, "")


def test_12_what_changed_in_fetch_13(run_command: RunCommand) -> None:
    out = run_command("diff", "Fetch", "12", "13")[1]
    assert "topics.topic\n  - COMPACT_STRING\ntopics.topic_id\n  + UUID\n" in out


@pytest.mark.parametrize("entity", ["topicName"])
def test_13_which_fields_have_topic_names(entity: str, run_command: RunCommand) -> None:
    assert_lists_fields(entity, run_command)


@pytest.mark.parametrize("entity", ["clientId"])
def test_14_which_messages_name_a_client(entity: str, run_command: RunCommand) -> None:
    assert_lists_fields(entity, run_command)


@pytest.mark.parametrize("entity", ["groupId", "transactionalId"])
def test_15_which_messages_have_a_group_or_transactional_id(entity: str, run_command: RunCommand) -> None:
    assert_lists_fields(entity, run_command)


def assert_lists_fields(entity: str, run_command: RunCommand) -> None:
    status, out, err = run_command("show", "--entity", entity, "--width", "80")
    assert (status, err) == (0, "")
    matches_golden(GOLDENS / f"{entity}.txt", out)


def test_16_since_when_has_fetch_topic_ids(run_command: RunCommand) -> None:
    assert "  versions 13-18  UUID, since Kafka 3.1.0" in run_command("show", "Fetch", "--field", "topicId")[1]


def test_17_how_is_a_topic_name_of_metadata_encoded_and_where_is_it_null(run_command: RunCommand) -> None:
    out = run_command("show", "Metadata", "--field", "topics.name")[1]
    assert "  versions 10-13  COMPACT_NULLABLE_STRING, may be null, since Kafka 2.8.0" in out


def test_18_what_is_the_layout_of_fetch_13(run_command: RunCommand) -> None:
    assert "FetchRequest (Version: 13) => replica_id max_wait_ms" in run_command("show", "Fetch", "13")[1]


def test_19_which_tagged_fields_has_fetch(run_command: RunCommand) -> None:
    out = run_command("tags", "FetchRequest", "--json")[1]
    assert [row["path"] for row in rows(out)] == [
        *("cluster_id", "replica_state"),
        *("topics.partitions.replica_directory_id", "topics.partitions.high_watermark"),
    ]


def test_20_what_is_tag_0_of_a_produce_response(run_command: RunCommand) -> None:
    out = run_command("tags", "ProduceResponse", "--json")[1]
    assert [(row["path"], row["tag"]) for row in rows(out)] == [
        ("responses.partition_responses.current_leader", 0),
        ("node_endpoints", 0),
    ]


def test_21_which_apis_are_gone(run_command: RunCommand) -> None:
    assert "LeaderAndIsr  removed" in run_command("apis", "LeaderAndIsr")[1]


def test_22_which_versions_does_a_broker_support(run_command: RunCommand) -> None:
    fetch = next(row for row in rows(run_command("apis", "fetch", "--json")[1]) if row["api"] == "Fetch")
    assert f"versions {fetch['lowest_version']} to {fetch['highest_version']}" == FETCH_VERSIONS


def test_23_which_records_has_the_metadata_log(run_command: RunCommand) -> None:
    found = {row["message"] for row in rows(run_command("list", "--kind", "metadata", "--json")[1])}
    assert {"TopicRecord", "PartitionRecord"} <= found


def test_24_what_is_this_key_of_the_offsets_topic(run_command: RunCommand) -> None:
    key = b"\0\1" + OffsetCommitKey(group="billing", topic="orders", partition=1).write(0)
    assert run_command("explain", key.hex())[1].splitlines()[0] == "OffsetCommitKey v0 after its type"


def test_25_what_is_this_record_of_the_metadata_log(run_command: RunCommand) -> None:
    record = write_metadata_record(TopicRecord(name="orders"), 0)
    assert run_command("explain", record.hex())[1].splitlines()[0] == "TopicRecord v0 after its type and version"


def test_26_what_is_a_request_of_a_version_that_does_not_exist(run_command: RunCommand) -> None:
    assert run_command("explain", "0003 0063 00000007 0002 6365 0000") == (
        1,
        dedent("""\
            MetadataRequest v99 after a header
              API Metadata and version 99 in the header; but MetadataRequest has no version 99, only versions 0 to \
13; printable strings: 1
            ExpireDelegationTokenResponse v0-1
              reads and writes the same bytes; known error codes: 1
            RenewDelegationTokenResponse v0-1
              reads and writes the same bytes; known error codes: 1

            MetadataRequest v99
                                                     RequestHeader v2
            0000  00 03                    ..          request_api_key      3  Metadata  INT16
            0002  00 63                    .c          request_api_version  99  INT16
            0004  00 00 00 07              ....        correlation_id       7  INT32
            0008  00 02 63 65              ..ce        client_id            "ce"  length 2  NULLABLE_STRING
            000c  00                       .           _tagged_fields       none  TAG_SECTION
            000d  ··                       ·                                not read: MetadataRequest has no
                                                                            version 99, only versions 0 to 13;
                                                                            redacted, may be secret:
                                                                            --show-secrets shows it
            000e  MetadataRequest has no version 99, only versions 0 to 13
            """),
        "",
    )


def test_27_what_is_an_unknown_api_key(run_command: RunCommand) -> None:
    out = run_command("explain", "--header", "03e7 0000 00000001", "--width", "200")[1]
    assert out.splitlines()[-1] == "0008  unknown API key 999; known keys are 0 to 94"


def test_28_where_does_a_truncated_frame_end(run_command: RunCommand) -> None:
    status, out, _ = run_command("explain", "--frame", FRAME[:-3].hex())
    assert (status, out.splitlines()[-1]) == (1, "001a  the frame has 25 bytes, but 22 follow")


def test_29_what_is_a_frame_of_369295616_bytes(run_command: RunCommand) -> None:
    tls = "this looks like a TLS {}: one side uses TLS (SSL or SASL_SSL), the other does not\n"
    assert run_command("explain", "16 03 01 00 f4 01 00 00 f0") == (1, tls.format("ClientHello"), "")
    assert run_command("explain", f"{369295616:08x}", "--in", "hex") == (1, tls.format("handshake record"), "")
    assert run_command("explain", "--frame", "16 03 01 00 f4 01", "--json")[0] == 1


def test_30_what_is_a_frame_of_1195725856_bytes(run_command: RunCommand) -> None:
    http = "this looks like an HTTP/1 request: an HTTP client or proxy uses the port of a broker\n"
    assert run_command("explain", b"GET / HTTP/1.1\r\n".hex()) == (1, http, "")
    assert run_command("explain", f"{1195725856:08x}", "--in", "hex") == (1, http, "")


TCPDUMP = """\
05:43:25.380859 lo    In  IP 127.0.0.1.49536 > 127.0.0.1.9092: Flags [.], ack 1, win 64, length 0
\t0x0000:  4500 0028 0001 4000 4006 3ccd 7f00 0001  E..(..@.@.<.....
\t0x0010:  7f00 0001 c180 2384 0000 03e9 0000 1389  ......#.........
\t0x0020:  5010 0040 0000 0000                      P..@....
05:43:25.380895 lo    In  IP 127.0.0.1.49536 > 127.0.0.1.9092: Flags [P.], seq 1:30, ack 1, win 64, length 29
\t0x0000:  4500 0045 0002 4000 4006 3caf 7f00 0001  E..E..@.@.<.....
\t0x0010:  7f00 0001 c180 2384 0000 03e9 0000 1389  ......#.........
\t0x0020:  5018 0040 0000 0000 0000 0019 0012 0003  P..@............
\t0x0030:  0000 0007 0002 6d65 0005 6a61 7661 0634  ......me..java.4
\t0x0040:  2e34 2e30 00                             .4.0.
"""


def test_31_what_is_the_output_of_tcpdump(run_command: RunCommand) -> None:
    note = PAYLOAD_NOTE.format("127.0.0.1:49536 to 127.0.0.1:9092")
    assert run_command("explain", TCPDUMP) == (0, EXPLAINED, note)


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(BODY + b"\0").decode(),
        repr(BODY),
        "{" + ", ".join(f"0x{byte:02x}" for byte in BODY) + "}",
        "{" + ", ".join(f"(byte) {byte}" for byte in BODY) + "}",
    ],
    ids=["base64", "Python", "C", "Java"],
)
def test_32_what_is_this_literal(text: str, run_command: RunCommand) -> None:
    assert '"java"' in run_command("explain", "ApiVersionsRequest", "3", text)[1]


OLD_PRODUCE = encode_request(ProduceRequest(acks=1, timeout_ms=100), 2, 299, "old")


def test_33_which_clients_use_old_versions(run_command: RunCommand, pass_input: PassInput) -> None:
    pass_input(pcap(Talk().open().say(OLD_PRODUCE).close(by_client=False).packets()))
    out = run_command("capture", "-", "--clients")[1]
    assert "    would fail on Kafka 4.0.0 and later: Produce v2\n" in out


def test_clients_with_versions_of_no_release(run_command: RunCommand, pass_input: PassInput) -> None:
    newer = encode_request(MetadataRequest(), 13, 300, "new").replace(b"\0\3\0\x0d", b"\0\3\0\x63")
    talk = Talk().open().say(encode_request(MetadataRequest(), 12, 299, "new")).say(newer).close(by_client=False)
    pass_input(pcap(talk.packets()))
    out = run_command("capture", "-", "--clients")[1]
    assert "    LACKING Metadata v99: this release supports versions 0 to 13\n" in out
    assert "    Kafka 3.1.0 to 4.4.0 support all other versions; older releases lack Metadata v12\n" in out
    pass_input(pcap(talk.packets()))
    rows = [json.loads(line) for line in run_command("capture", "-", "--json")[1].splitlines()]
    assert [row.get("unsupported") for row in rows] == [None, "this release supports versions 0 to 13", None]


def test_34_why_has_a_request_no_response(run_command: RunCommand, pass_input: PassInput) -> None:
    pass_input(pcap(Talk().open().say(OLD_PRODUCE).close(by_client=False).packets()))
    assert run_command("capture", "-", "--width", "100") == (
        0,
        dedent("""\
            number time         conn  API                      client             ms  result
                 1 22:13:20.002    1  Produce v2               old
                    response: the server closed the connection; Produce v2 is unsupported: this release supports
                    versions 3 to 13
                   22:13:20.003    1
                    the server closed the connection
            """),
        "5 packets; 5 segments; 1 connection; 1 connection of Kafka; 1 exchange; 1 request without response\n",
    )


def test_35_which_requests_failed(run_command: RunCommand) -> None:
    out = run_command("capture", LIBRDKAFKA, "--errors")[1]
    assert out.splitlines()[1].endswith("7.050  TOPIC_ALREADY_EXISTS")


def test_36_why_does_sasl_fail(run_command: RunCommand, pass_input: PassInput) -> None:
    request = encode_request(SaslAuthenticateRequest(auth_bytes=b"\0me\0wrong"), 2, 7, "me")
    response = encode_response(SaslAuthenticateResponse(error_code=58, error_message="invalid credentials"), 2, 7)
    pass_input(pcap(Talk().open().say(request).say(response, from_client=False).close().packets()))
    assert "SASL_AUTHENTICATION_FAILED" in run_command("capture", "-", "--errors")[1]


def test_37_how_do_i_build_a_request(run_command: RunCommand) -> None:
    values = '{"topics": [{"name": "orders"}]}'
    out = f"02{'00' * 16}076f7264657273000100" + "00\n"
    assert run_command("encode", "MetadataRequest", "12", values, "--defaults") == (0, out, "")


def test_38_which_records_has_this_segment(run_command: RunCommand) -> None:
    file = COMMITTED / "logs" / "clicks-0" / "00000000000000000000.log"
    assert rows(run_command("log", str(file), "--json")[1])[0]["value"] == "click 0"


def test_39_which_producer_wrote_this_batch(run_command: RunCommand) -> None:
    file = COMMITTED / "logs" / "settings-0" / "00000000000000000015.log"
    values = {
        "position": 0,
        "size": 169,
        "count": 5,
        "magic": 2,
        "compression": "none",
        "producer_id": 6,
        "producer_epoch": 0,
        "base_sequence": 15,
        "leader_epoch": 0,
        "last_sequence": 19,
        "is_transactional": False,
        "is_control": False,
        "delete_horizon": None,
        "timestamp_type": "CreateTime",
        "max_timestamp": 1795261727865,
        "crc": 2852234963,
        "is_valid": True,
    }
    line = f"15-19  2026-11-21T11:48:47.865Z  {json.dumps(values)}\n"
    assert run_command("log", "--batches", str(file)) == (0, line, "")


def renamed(name: str) -> str:
    """Return our name of a batch field of kafka-dump-log."""
    return re.sub("([A-Z])", lambda found: f"_{found[0].lower()}", name).removeprefix("partition_")


def test_batches_equal_the_output_of_kafka_dump_log(run_command: RunCommand) -> None:
    with gzip.open(COMMITTED / "dump.jsonl.gz") as file:
        dumped = list(map(json.loads, file))
    for name in dict.fromkeys(batch["file"] for batch in dumped):
        printed = run_command("log", "--batches", str(COMMITTED / "logs" / name), "--json")[1]
        expected = [{renamed(key): value for key, value in batch.items()} for batch in dumped if batch["file"] == name]
        same = [name for name in expected[0] if name not in ("file", "records")]
        assert [{key: row[key] for key in same} for row in rows(printed)] == [
            {key: batch[key] for key in same} for batch in expected
        ]
        assert all(row["is_valid"] for row in rows(printed))


def test_batch_with_a_wrong_checksum_is_invalid(run_command: RunCommand, tmp_path: Path) -> None:
    data = bytearray((COMMITTED / "logs" / "settings-0" / "00000000000000000015.log").read_bytes())
    data[-1] ^= 1
    file = tmp_path / "damaged.log"
    file.write_bytes(data * 2)
    status, out, err = run_command("log", "--batches", str(file), "--json")
    assert (status, [(row["position"], row["is_valid"]) for row in rows(out)], err) == (
        1,
        [(0, False), (169, False)],
        "",
    )


def test_40_which_offsets_has_this_segment_of_an_internal_topic(run_command: RunCommand) -> None:
    file = COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log"
    found = rows(run_command("log", str(file), "--json")[1])
    assert found[2]["key"] == {"group": "billing", "topic": "orders", "partition": 0}
