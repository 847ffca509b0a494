"""Page with all bytes of captured exchanges: completeness, bounds, redaction, and the option ``capture --html``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from kafka_messages import FetchResponse, ProduceRequest, ProduceResponse
from kafka_messages.protocol import encode_request, encode_response
from kafka_records import CompressionName, Record, write_batch

from kafka_messages_tools.capture import Exchange, open_capture
from kafka_messages_tools.command import main
from kafka_messages_tools.conversation import exchange_html, page
from tests.support.captures import CAPTURES, captured
from tests.support.full_disk import fill_disk
from tests.support.markup import Element, parsed
from tests.support.packets import Talk, pcap

RECORD = Record(key=b"card-key", value=b"4111-value", headers=(("trace-name", b"trace-value"),))
CONTENT = ("card-key", "4111-value", "trace-name", "trace-value")


def exchanges(folder: Path, *frames: bytes) -> list[Exchange]:
    """Return the exchanges of a capture in which client and server take turns."""
    talk = Talk().open()
    for number, frame in enumerate(frames):
        talk.say(frame, from_client=number % 2 == 0)
    (folder / "own.pcap").write_bytes(pcap(talk.close().packets()))
    with open_capture(folder / "own.pcap") as capture:
        return list(capture)


def produced(folder: Path, compression: CompressionName = "none", damage: slice | None = None) -> list[Exchange]:
    batch = write_batch([RECORD], compression=compression)
    kind = ProduceRequest
    data = [kind.TopicProduceData(name="orders", partition_data=[kind.PartitionProduceData(index=1, records=batch)])]
    frame = bytearray(encode_request(kind(acks=-1, topic_data=data), 9, 7, "billing-1"))
    if damage is not None:
        frame[damage] = b"\xff" * len(frame[damage])
    return exchanges(folder, bytes(frame), encode_response(ProduceResponse(), 9, 7))


def tables(text: str) -> list[Element]:
    return list(parsed(text).root.all("table", "bytes"))


def cells(table: Element, number: int) -> list[str]:
    rows = (list(row.all("td")) for row in table.all("tr") if "unpacked" not in row.attributes.get("class", ""))
    return [row[number].text for row in rows if len(row) == 5]


def dump_of(table: Element) -> str:
    """Return the bytes of a message, without the decompressed bytes of records."""
    dump = "".join(cells(table, 1))
    return "shortened" if "more bytes" in dump else dump.replace(" ", "")


def has_content(text: str) -> list[str]:
    """Return the parts of the record that a page shows as text or as bytes."""
    dump = text.replace("</td>", "")
    return [each for each in CONTENT if each in text or each.encode().hex(" ") in dump]


@pytest.mark.parametrize("name", CAPTURES)
def test_rows_have_all_bytes_of_each_message_in_order(name: str) -> None:
    with open_capture(captured(name)) as capture:
        found = list(capture)
    text = page(found, show_secrets=True, show_values=True)
    dumps = [dump_of(table) for table in tables(text)]
    expected = []
    for each in found:
        frames = [each.request_frame, *([each.response_frame] if each.request is not None else [])]
        expected += [frame.size.to_bytes(4, "big") + frame.data for frame in frames if frame is not None]
    assert [dump for dump in dumps if dump != "shortened"] == [
        data.hex() for dump, data in zip(dumps, expected, strict=True) if dump != "shortened"
    ]
    assert dumps.count("shortened") < 3


def test_row_has_offset_bytes_field_value_and_type(tmp_path: Path) -> None:
    (exchange,) = produced(tmp_path)
    assert exchange.request_frame is not None
    request, response = tables(page([exchange]))
    rows = [[each.text for each in row.inside if isinstance(each, Element)] for row in request.all("tr")]
    assert rows[:9] == [
        ["at", "bytes", "field", "value", "type"],
        ["0000", f"00 00 00 {len(exchange.request_frame.data):02x}", *rows[1][2:]],
        ["RequestHeader v2"],
        ["0004", "00 00", "request_api_key", "0 Produce, = default", "INT16"],
        ["0006", "00 09", "request_api_version", "9", "INT16"],
        ["0008", "00 00 00 07", "correlation_id", "7", "INT32"],
        ["000c", "00 09 62 69 6c 6c 69 6e 67 2d 31", "client_id", '"billing-1" length 9', "NULLABLE_STRING"],
        ["0017", "00", "tagged fields", "none", "TAG_SECTION"],
        ["ProduceRequest v9"],
    ]
    assert ["topic_data[0].partition_data[0].records.batches[0]"] in rows
    assert len(cells(response, 0)) == 6


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_content_of_records_is_redacted_unless_values_are_shown(tmp_path: Path, compression: CompressionName) -> None:
    found = produced(tmp_path, compression)
    hidden = page(found)
    assert has_content(hidden) == []
    batch = write_batch([RECORD], compression=compression)
    assert batch[61:].hex(" ")[:60] not in hidden  # after the batch header
    assert "base_sequence" in hidden
    assert has_content(page(found, show_values=True)) == list(CONTENT)
    assert has_content(exchange_html(found[0])) == []


@pytest.mark.parametrize("damage", [slice(35, 36), slice(40, 44), slice(48, 52), slice(-30, -20)])
def test_damaged_records_are_redacted(tmp_path: Path, damage: slice) -> None:
    assert has_content(page(produced(tmp_path, damage=damage))) == []


def test_records_in_a_fetch_response_are_redacted(tmp_path: Path) -> None:
    kind = FetchResponse
    data = [kind.PartitionData(partition_index=0, high_watermark=1, records=write_batch([RECORD]))]
    response = encode_response(kind(responses=[kind.FetchableTopicResponse(topic="orders", partitions=data)]), 12, 7)
    request = bytes.fromhex("00 01 00 0c 00 00 00 07 00 01 61 00 ff ff ff ff 00000000 00000001 7fffffff 00 00000000")
    request += bytes.fromhex("ffffffff 01 01 01 00")
    (found,) = exchanges(tmp_path, len(request).to_bytes(4, "big") + request, response)
    assert found.response is not None
    assert has_content(page([found])) == []
    assert has_content(page([found], show_values=True)) == list(CONTENT)


def test_page_has_the_first_exchanges_and_says_what_is_left_out(tmp_path: Path) -> None:
    (one,) = produced(tmp_path)
    text = page(many(one, 502))
    assert len(list(parsed(text).root.all("div", "exchange"))) == 500
    assert '<p class="skipped">… 2 exchanges left out</p>' in text


def test_long_fields_are_shortened(tmp_path: Path) -> None:
    kind = ProduceRequest
    data = [kind.TopicProduceData(name="t" * 1000)]
    found = exchanges(
        tmp_path, encode_request(kind(acks=-1, topic_data=data), 9, 7), encode_response(ProduceResponse(), 9, 7)
    )
    (dump,) = [each for each in cells(tables(page(found))[0], 1) if "more" in each]
    assert dump == f"e9 07{' 74' * 254} … 746 more bytes"


def test_page_has_at_most_fifty_thousand_fields(tmp_path: Path) -> None:
    kind = ProduceRequest
    data = [kind.TopicProduceData(name="t") for _ in range(600)]
    request = encode_request(kind(acks=-1, topic_data=data), 9, 7)
    (one,) = exchanges(tmp_path, request, encode_response(ProduceResponse(), 9, 7))
    text = page(many(one, 40))
    assert text.count("<tr ") < 53_000
    assert '<p class="skipped">bytes left out after 50,000 fields</p>' in text


def many(exchange: Exchange, count: int) -> Iterable[Exchange]:
    return (exchange for _ in range(count))


def test_links_lead_to_fields(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def link(message: str, path: str) -> str:
        asked.append((message, path))
        return f"{message}.html#{path}" if message else ""

    text = exchange_html(produced(tmp_path)[0], link=link, anchor="exchange-1")
    assert text.startswith('<div class="exchange" id="exchange-1">')
    assert '<a href="RequestHeader.html#client_id">client_id</a>' in text
    assert '<a href="ProduceRequest.html#topic_data.name">name</a>' in text
    assert ("ProduceRequest", "topic_data.partition_data.records.batches.crc") in asked


def test_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, source = tmp_path / "page.html", str(captured("librdkafka.pcap"))
    assert main(["capture", source, "--api", "CreateTopics", "--html", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert parsed(text).root.one("h1").text == "librdkafka.pcap.gz"
    assert len(list(parsed(text).root.all("div", "exchange"))) == 2
    assert "TOPIC_ALREADY_EXISTS</span>" in text
    assert capsys.readouterr().out == ""


def test_full_disk_leaves_the_earlier_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    fill_disk(monkeypatch)
    assert main(["capture", str(captured("librdkafka.pcap")), "--html", str(target)]) == 2
    assert capsys.readouterr().err.endswith(f": {target}: No space left on device\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_command_redacts_secrets_and_values(tmp_path: Path) -> None:
    target, source = tmp_path / "page.html", str(captured("kafka-python.pcap"))
    for options, shown in (([], False), (["--values"], True)):
        assert main(["capture", source, "--html", str(target), *options]) == 0
        text = target.read_text(encoding="utf-8")
        assert "planted-secret" not in text
        assert b"planted-secret".hex(" ") not in text
        assert (">2 bytes <small>&quot;v0&quot;</small>" in text) == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--html", "p.html", "--clients"], "--html excludes --clients, --explain and --json"),
        (["--html", "p.html", "--explain", "1"], "--html excludes --clients, --explain and --json"),
        (["--html", "p.html", "--json"], "--html excludes --clients, --explain and --json"),
        (["--values"], "--values needs --html"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capture", str(captured("librdkafka.pcap")), *options]) == 2
    assert capsys.readouterr().err.splitlines()[0].endswith(message)


def test_page_shows_which_connections_the_server_closed(tmp_path: Path) -> None:
    source, target = tmp_path / "own.pcap", tmp_path / "page.html"
    request = encode_request(ProduceRequest(acks=1), 2, 299, "old")
    source.write_bytes(pcap(Talk().open().say(request).close(by_client=False).packets()))
    assert main(["capture", str(source), "--html", str(target)]) == 0
    root = parsed(target.read_text(encoding="utf-8")).root
    assert [each.text for each in root.all("p", "skipped")] == [
        "22:13:20.003 10.0.0.1:40000 → 10.0.0.2:9092: the server closed the connection"
    ]


def test_page_does_not_replace_the_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "own.pcap.gz"
    source.write_bytes(captured("librdkafka.pcap").read_bytes())
    for place, problem in (
        (str(source), f"--html {source} is the capture itself"),
        ("-", "--html needs a file name; standard output is for text and JSON"),
    ):
        assert main(["capture", str(source), "--html", place]) == 2
        assert capsys.readouterr().err.splitlines()[0].endswith(f": {problem}")
    assert source.read_bytes() == captured("librdkafka.pcap").read_bytes()


def test_page_that_cannot_be_written_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "missing" / "page.html")
    assert main(["capture", str(captured("librdkafka.pcap")), "--html", target]) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"{target}: No such file or directory")
