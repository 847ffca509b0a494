"""The subcommands ``capture`` and ``wireshark``: output, files and exit status."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from kafka_messages import ApiVersionsRequest, ApiVersionsResponse, FetchRequest
from kafka_messages.protocol import encode_request, encode_response

from kafka_messages_tools.capture import open_capture
from kafka_messages_tools.command import main
from kafka_messages_tools.conversation import render
from kafka_messages_tools.packets.segments import ACK, FIN
from kafka_messages_tools.wireshark import dissector
from tests.support import pages
from tests.support.captures import captured
from tests.support.command import PassInput
from tests.support.kafka_protocol import FETCH_VERSIONS
from tests.support.packets import RAW, RESET, Talk, pcap
from tests.support.vectors import RELEASE

LIBRDKAFKA = str(captured("librdkafka.pcap"))
JAVA = str(captured("java.pcapng"))


def lines(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> list[str]:
    assert main(words) == status
    return capsys.readouterr().out.splitlines()


def test_example_in_docs_matches_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    *promised, rendered = [block.text for block in pages.blocks("docs/capture.md") if block.language == ""]
    printed = ["capture", LIBRDKAFKA], ["capture", JAVA, "--clients"]
    with open_capture(captured("kafka-python.pcap")) as capture:
        commits = [each for each in capture if each.api and each.api.name == "OffsetCommit"]
    assert render(commits[:1]) == rendered
    for block, words in zip(promised, printed, strict=True):
        found = lines(capsys, *words)
        assert [line for line in block.splitlines() if line != "..." and line not in found] == []


def test_exchanges_are_filtered_and_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        json.loads(line) for line in lines(capsys, "capture", LIBRDKAFKA, "--api", "createtopics", "--errors", "--json")
    ]
    assert [(each["api"], each["errors"]) for each in found] == [
        ("CreateTopics", [{"path": "topics[0].error_code", "code": 36, "name": "TOPIC_ALREADY_EXISTS"}])
    ]
    words = ("capture", LIBRDKAFKA, "--error", "14,79", "--client", "rd-client", "--json")
    found = [json.loads(line) for line in lines(capsys, *words)]
    assert [each["errors"][0]["name"] for each in found] == ["MEMBER_ID_REQUIRED"]
    assert lines(capsys, "capture", LIBRDKAFKA, "--client", "nobody", "--json") == []


def test_capture_statistics_are_printed_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", LIBRDKAFKA]) == 0
    expected = (
        "187 packets; 187 segments; 9 connections; 9 connections of Kafka; 47 exchanges; 247 bytes retransmitted\n"
    )
    assert capsys.readouterr().err == expected


def test_clients_are_printed_as_json(capsys: pytest.CaptureFixture[str], pass_input: PassInput) -> None:
    request = bytes.fromhex("0000000e 0001 0003 00000001 0004 6f6c6421".replace(" ", ""))  # Fetch v3
    pass_input(pcap(Talk().open().say(request).close().packets()))
    (found,) = map(json.loads, lines(capsys, "capture", "-", "--clients", "--json"))
    lacking = [{"api": "Fetch", "version": 3, "reason": f"this release supports {FETCH_VERSIONS}"}]
    assert (found["client_id"], found["apis"], found["lacking"]) == ("old!", {"Fetch": {"3": 1}}, lacking)
    assert found["failing"] == [{"api": "Fetch", "version": 3, "until": "4.0.0"}]
    assert (found["failing_in"], found["needing"]) == ([], [])
    assert (found["releases"][0], found["releases"][-1]) == ("2.2.0", "3.9.2")


def test_text_output_lists_releases_incompatible_with_clients(
    capsys: pytest.CaptureFixture[str], pass_input: PassInput
) -> None:
    request = bytes.fromhex("0000000e 0001 0003 00000001 0004 6f6c6421".replace(" ", ""))  # Fetch v3
    pass_input(pcap(Talk().open().say(request).close().packets()))
    assert main(["capture", "-", "--clients", "--text"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "    Fetch: v3 (1)",
        f"    LACKING Fetch v3: this release supports {FETCH_VERSIONS}",
        "    would fail on Kafka 4.0.0 and later: Fetch v3",
        "    Kafka 2.2.0 to 3.9.2 support all these versions",
    ]


def test_client_incompatible_with_a_single_release_is_listed(
    capsys: pytest.CaptureFixture[str], pass_input: PassInput
) -> None:
    requests = [
        bytes.fromhex(f"0000000e {key:04x} {version:04x} 00000001 0004 6f6c6421") for key, version in ((11, 1), (1, 11))
    ]
    for words in (("--json",), ()):
        pass_input(pcap(Talk().open().say(b"".join(requests)).close().packets()))
        assert main(["capture", "-", "--clients", *words]) == 0
        out = capsys.readouterr().out
        if not words:
            assert out.splitlines()[1:] == [
                "    Fetch: v11 (1)",
                "    JoinGroup: v1 (1)",
                "    would fail on Kafka 4.0.0: JoinGroup v1",
                f"    Kafka 2.3.0 to {RELEASE} support all these versions, except 4.0.0; older releases lack Fetch v11",
            ]
        else:
            found = json.loads(out)
            assert found["failing_in"] == [{"api": "JoinGroup", "version": 1, "releases": ["4.0.0"]}]
            assert found["needing"] == [{"api": "Fetch", "version": 11, "since": "2.3.0"}]
            assert "4.0.0" not in found["releases"]


def test_strict_exits_with_1_for_truncated_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", LIBRDKAFKA, "--strict"]) == 0
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(gzip.decompress(captured("librdkafka.pcap").read_bytes())[:-7])
    assert main(["capture", str(cut)]) == 0
    assert main(["capture", str(cut), "--strict"]) == 1
    assert "\nthe file ends inside packet 187: " in capsys.readouterr().err


TLS = bytes.fromhex("1603010200010001fc0303") + bytes(99)


@pytest.mark.parametrize(
    ("version", "other", "link", "status"),
    [
        (3, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", RAW, 0),
        (9, b"", RAW, 1),
        (3, TLS, RAW, 1),
        (3, b"", 147, 1),
    ],
    ids=["HTTP beside Kafka", "unknown version", "TLS", "unknown link type"],
)
def test_strict_exit_status_reports_unreadable_data(
    version: int, other: bytes, link: int, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = encode_request(ApiVersionsRequest(client_software_name="a", client_software_version="b"), 3, 1, "me")
    kafka = Talk().open().say(request[:6] + version.to_bytes(2, "big") + request[8:])
    kafka.say(encode_response(ApiVersionsResponse(), 3, 1), from_client=False).close()
    file = tmp_path / "traffic.pcap"
    file.write_bytes(pcap([*Talk(client=40001, server=80).open().say(other).close().packets(), *kafka.packets()], link))
    assert main(["capture", str(file), "--strict"]) == status
    assert ("; 2 messages not decoded" in capsys.readouterr().err) == (version == 9)


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (
            ["README.md"],
            1,
            "not pcap, pcapng or the text of 'Follow TCP Stream': it begins with 23 20 4b 61 66 6b 61 20",
        ),
        (["none.pcap"], 2, "none.pcap: No such file or directory"),
        ([LIBRDKAFKA, "--api", "Nothing"], 2, "unknown API 'Nothing'"),
        ([LIBRDKAFKA, "--error", "NOTHING"], 2, "unknown error 'NOTHING'"),
        ([LIBRDKAFKA, "--port", "0"], 2, "--port 0 is not a number from 1 to 65535"),
        ([LIBRDKAFKA, "--explain", "99"], 2, "exchange 99 not found in the capture, or excluded by other options"),
    ],
)
def test_invalid_arguments_and_files_are_reported(
    words: list[str], status: int, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pages.ROOT)
    assert main(["capture", *words]) == status
    reported = capsys.readouterr().err.splitlines()
    assert next(line for line in reported if text in line).endswith(text)


def test_wireshark_prints_the_dissector(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wireshark", "--name", "kafka_44", "--ports", "9092"]) == 0
    assert capsys.readouterr().out == dissector("kafka_44", "9092")
    assert main(["wireshark", "--name", "Kafka 4"]) == 2
    expected = "expected a protocol name of lower-case letters, digits, - and _, got 'Kafka 4'"
    assert capsys.readouterr().err.splitlines()[0].endswith(expected)


def test_explain_option_prints_the_bytes_of_an_exchange(capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, "capture", LIBRDKAFKA, "--explain", "6", "--text", "--width", "120")
    assert found[0].split()[3:5] == ["CreateTopics", "v4"]
    assert [line for line in found if line.startswith(("request", "response", "0019"))] == [
        "request, 55 bytes, from 127.0.0.1:49546",
        "response, 64 bytes, from 127.0.0.1:43453",
        "0019  00 24                    .$              error_code     36  TOPIC_ALREADY_EXISTS  INT16",
    ]
    rows = [json.loads(line) for line in lines(capsys, "capture", LIBRDKAFKA, "--explain", "6", "--json")]
    assert {row["side"] for row in rows} == {"request", "response"}
    with open_capture(captured("kafka-python.pcap")) as capture:
        numbers = [
            (each.number, each) for each in capture if each.api is not None and each.api.name == "SaslAuthenticate"
        ]
    number, exchange = numbers[0]
    assert exchange.request is not None
    secret: bytes = exchange.request.message.auth_bytes  # type: ignore[attr-defined]
    for words in (["--text", "--width", "400"], ["--json"]):
        assert main(["capture", str(captured("kafka-python.pcap")), "--explain", str(number), *words]) == 0
        shown = capsys.readouterr().out.replace(" ", "")
        assert "(redacted)" in shown
        assert secret[:8].hex() not in shown
        assert secret[:8].decode() not in shown


def test_close_by_the_server_is_a_line_of_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    request = encode_request(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3, 1, "me")
    response = encode_response(ApiVersionsResponse(), 3, 1)
    file = tmp_path / "closed.pcap"
    file.write_bytes(pcap(Talk().open().say(request).say(response, from_client=False).close(by_client=False).packets()))
    *_, closed = map(json.loads, lines(capsys, "capture", str(file), "--json"))
    assert closed == {
        "connection": 1,
        "client": "10.0.0.1:40000",
        "server": "10.0.0.2:9092",
        "closed_by": "server",
        "packet": 5,
        "time": "2023-11-14T22:13:20.004000000Z",
    }
    for words in (("--client", "me"), ("--explain", "1")):
        assert "closed" not in "".join(lines(capsys, "capture", str(file), *words))


@pytest.mark.parametrize("flags", [FIN | ACK, RESET], ids=["FIN", "RST"])
def test_request_on_a_closed_connection_says_who_closed_it(
    flags: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "closed.pcap"
    expected = {True: {"closed_by": "client"}, False: {"closed_by": "server"}}
    expected[False]["unsupported"] = f"this release supports {FETCH_VERSIONS}"
    for by_client in (True, False):
        request = encode_request(FetchRequest(), 3, 1, "old")
        file.write_bytes(pcap(Talk().open().say(request).close(flags, by_client=by_client).packets()))
        found = json.loads(lines(capsys, "capture", str(file), "--json")[0])
        assert {name: found[name] for name in found if name in ("closed_by", "unsupported")} == expected[by_client]
