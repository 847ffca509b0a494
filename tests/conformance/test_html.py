"""The HTML page of reports."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from kafka_conformance.command import main
from kafka_conformance.html import to_html
from kafka_conformance.result import Report, Result, SentBytes
from kafka_messages import ApiVersionsRequest, ApiVersionsResponse, HeartbeatRequest
from kafka_messages.protocol import encode_request, encode_response

MESSAGE = HeartbeatRequest(group_id="billing<", member_id="m").write(0)
REQUEST = encode_request(ApiVersionsRequest(), 0, 7, "me")
RESPONSE = encode_response(ApiVersionsResponse(error_code=35), 0, 7)


def failed(id: str, *sent: SentBytes) -> Result:
    return Result(id, "failed", "wrong <b>", "right", "It is right.", "KIP-1", list(sent))


def page_of(*results: Result) -> str:
    passed = Report("codec", "first & best", [Result("A.one", "passed"), Result("B.none", "not run", "no")])
    return to_html([passed, Report("broker", "second", list(results), ["a note <"])])


def test_matrix_has_testees_and_groups() -> None:
    page = page_of(
        failed("A.one", SentBytes(MESSAGE.hex(), name="HeartbeatRequest", version=0)), Result("B.two", "warning")
    )
    page = " ".join(page.split())
    assert '<th scope="col">first &amp; best<br><small>codec</small></th>' in page
    assert '<th scope="row">A</th> <td><span class="passed" title="1 passed">1 / 1</span></td>' in page
    assert '<a href="#2-A"><span class="failed" title="1 failed">0 / 1</span></a>' in page
    assert '<th scope="row">B</th> <td><span class="not-run" title="1 not run">not run</span></td>' in page
    assert '<h3 id="2-A">A</h3>' in page
    assert "<p>a note &lt;</p>" in page


def test_a_failure_explains_its_message() -> None:
    page = page_of(failed("A.one", SentBytes(MESSAGE.hex(), name="HeartbeatRequest", version=0)))
    assert "<dt>problem</dt><dd>wrong &lt;b&gt;</dd>" in page
    assert "HeartbeatRequest v0" in page
    assert "&quot;billing&lt;&quot;" in page or "billing&lt;" in page


def test_a_failure_explains_its_exchange() -> None:
    page = page_of(failed("A.one", SentBytes(REQUEST.hex(), RESPONSE.hex())))
    assert "ApiVersionsRequest v0" in page
    assert "ApiVersionsResponse v0" in page
    assert "UNSUPPORTED_VERSION" in page
    assert "correlation_id" in page


@pytest.mark.parametrize(
    "sent",
    [
        SentBytes("00ff"),
        SentBytes("", "00"),
        SentBytes("00ff", name="NoSuchMessage"),
        SentBytes("00ff", name="FetchRequest", version=99),
        SentBytes("0000000400ff0001"),
        SentBytes(REQUEST.hex(), RESPONSE[:-3].hex()),
    ],
)
def test_bytes_that_cannot_be_explained_are_shown(sent: SentBytes) -> None:
    page = page_of(failed("A.one", sent))
    assert '<pre tabindex="0">' in page
    assert f"{sent.response or sent.request}</pre>" in page


def test_damaged_bytes_are_explained_up_to_the_error() -> None:
    page = page_of(failed("A.one", SentBytes(REQUEST.hex(), RESPONSE[:-3].hex())))
    assert "INT32: 4 bytes needed" in page
    assert "UNSUPPORTED_VERSION" in page
    page = page_of(failed("A.one", SentBytes(RESPONSE.hex(), name="ApiVersionsResponse", version=0, is_frame=True)))
    assert "ResponseHeader v0" in page


def test_tags_are_balanced() -> None:
    open_tags: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "br"):
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Checker().feed(page_of(failed("A.one", SentBytes(REQUEST.hex(), RESPONSE.hex()))))
    assert open_tags == []


def test_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Report("codec", "mine", [Result("A.one", "passed")]).save(tmp_path / "mine.json")
    assert main(["report", str(tmp_path / "mine.json"), "--html", str(tmp_path / "page.html")]) == 0
    assert "mine" in (tmp_path / "page.html").read_text(encoding="utf-8")
    (tmp_path / "other.json").write_text("{}")
    assert main(["report", str(tmp_path / "other.json"), "--html", str(tmp_path / "page.html")]) == 2
    text = f"kafka-conformance: {tmp_path / 'other.json'}: not a report of kafka-conformance: 'format'\n"
    assert capsys.readouterr().err == text
