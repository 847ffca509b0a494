"""Pasted text: hex in many forms, hex dumps and base64; and detection of the message."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import ApiVersionsRequest, MetadataRequest, MetadataResponse
from kafka_messages.protocol import encode_request, encode_response

from kafka_message_generator.export.command import write
from tests.support import javascript
from tests.support.pages import ROOT

pytestmark = pytest.mark.skipif(bool(javascript.missing()), reason=javascript.missing())
ASSETS = ROOT / "packages" / "pages" / "src" / "kafka_protocol_pages" / "assets"
DATA = ApiVersionsRequest(client_software_name="java", client_software_version="4.4.0").write(3)
XXD = "00000000: 056a 6176 6106 342e 342e 3000            .java.4.4.0.\n"
HEXDUMP = "00000000  05 6a 61 76 61 06 34 2e  34 2e 30 00              |.java.4.4.0.|\n0000000c\n"


@pytest.fixture(scope="module")
def protocol(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(ROOT / "specs" / "kafka", tmp_path_factory.mktemp("protocol"))[0]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (DATA.hex(), "hex"),
        (DATA.hex().upper(), "hex"),
        (DATA.hex(" "), "hex"),
        (DATA.hex(":"), "hex"),
        (", ".join(f"0x{byte:02x}" for byte in DATA), "hex"),
        ("".join(f"\\x{byte:02x}" for byte in DATA), "hex"),
        (f"  {DATA.hex()[:10]}\n{DATA.hex()[10:]}\n", "hex"),
        (XXD, "a hex dump"),
        (HEXDUMP, "a hex dump"),
        (base64.b64encode(DATA).decode(), "base64"),
        (base64.urlsafe_b64encode(DATA + b"\xff\xfe").decode().rstrip("="), "base64"),
    ],
)
def test_pasted_format_is_detected(protocol: Path, text: str, form: str) -> None:
    (answer,) = javascript.ask(protocol, [{"as": "text", "text": text}])
    assert answer["form"] == form
    assert bytes.fromhex(answer["hex"])[: len(DATA)] == DATA


@pytest.mark.parametrize("size", [1, 8, 15, 16, 17, 40])
def test_character_column_of_a_dump_is_not_read_as_hex(protocol: Path, size: int) -> None:
    data = b"0123456789abcdefcafe" * 2
    rows = [(at, data[at : min(at + 16, size)]) for at in range(0, size, 16)]
    dumps = {
        "xxd": [f"{at:08x}: {row.hex(' ', -2):39}  {row.decode()}" for at, row in rows],
        "hexdump -C": [f"{at:08x}  {row[:8].hex(' '):23}  {row[8:].hex(' '):23}  |{row.decode()}|" for at, row in rows],
        "Wireshark": [f"{at:04x}   {row.hex(' '):47}   {row.decode()}" for at, row in rows],
    }
    answers = javascript.ask(protocol, [{"as": "text", "text": "\n".join(dump)} for dump in dumps.values()])
    assert answers == [{"hex": data[:size].hex(), "form": "a hex dump"}] * 3


@pytest.mark.parametrize(("text", "data"), [("[10, 18]", "0a12"), ("{0, -1, 100}", "00ff64"), ("[0x10, 0x18]", "1018")])
def test_numbers_in_brackets_are_read_as_bytes(protocol: Path, text: str, data: str) -> None:
    (answer,) = javascript.ask(protocol, [{"as": "text", "text": text}])
    assert answer["hex"] == data


def test_hex_dump_of_many_rows_is_read(protocol: Path) -> None:
    data = bytes(range(256)) * 3 + b"0123 4567 89ab"
    lines = (
        f"{at:08x}: {data[at : at + 16].hex(' ', 2):39}  "
        + "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data[at : at + 16])
        for at in range(0, len(data), 16)
    )
    (answer,) = javascript.ask(protocol, [{"as": "text", "text": "\n".join(lines)}])
    assert answer == {"hex": data.hex(), "form": "a hex dump"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "No input yet."),
        ("056a6", "Odd number of hex digits (5)."),
        ("hello, world", "Neither hex nor base64: “h” is not a hex digit."),
        ("00 1 2", "“1” has an odd number of hex digits."),
        ("[10, 256]", "“256” is not a number from 0 to 255."),
        ("[10, ab]", "“ab” is not a number from 0 to 255."),
        ("00000000: 0012 0003\n00000008: 01\n", "The dump continues at the address 8, expected 4."),
        ("zz", "Neither hex nor base64: “z” is not a hex digit."),
        ("0" * (8 * (1 << 20) + 1), "More than 1048576 bytes; use the command line."),
    ],
)
def test_problem_of_invalid_text_is_reported(protocol: Path, text: str, problem: str) -> None:
    assert javascript.ask(protocol, [{"as": "text", "text": text}]) == [{"problem": problem}]


def test_message_is_detected_from_bytes(protocol: Path) -> None:
    request, response = MetadataRequest(topics=None), MetadataResponse(cluster_id="the-cluster", controller_id=1)
    cases = {
        encode_request(request, 12, 7, "me"): ["request", "MetadataRequest", 12, True],
        encode_request(request, 12, 7, "me", framed=False): ["request", "MetadataRequest", 12, False],
        encode_response(response, 12, 7): ["response", "MetadataResponse", 12, True],
        DATA: ["message", "ApiVersionsRequest", 4, False],
    }
    answers: list[Any] = javascript.ask(protocol, [{"as": "guess", "hex": data.hex()} for data in cases])
    assert [answer[0][:2] for answer in answers] == [expected[:2] for expected in cases.values()]
    assert answers[0][0] == ["request", "MetadataRequest", 12, True]
    assert answers[1][0] == ["request", "MetadataRequest", 12, False]
    assert answers[3][0] == ["message", "ApiVersionsRequest", 4, False]
    nothing: list[Any] = javascript.ask(protocol, [{"as": "guess", "hex": "ff"}])
    assert nothing == [[]]


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.js")), ids=lambda path: path.name)
def test_no_variable_hides_a_function_of_the_script(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    functions = set(re.findall(r"^  (?:async )?function (\w+)\(", text, re.MULTILINE))
    inner = set(re.findall(r"^ {4,}(?:const|let) (\w+) =", text, re.MULTILINE))
    assert functions & inner == set()


@pytest.mark.parametrize(
    ("values", "fragment"),
    [
        ({"bytes": XXD, "kind": "find"}, f"#bytes={DATA.hex()}"),
        ({"bytes": " 05 6a\n", "kind": "find", "message": "FetchRequest", "version": "4"}, "#bytes=056a"),
        ({"bytes": "056", "kind": "find"}, "#bytes=056"),
        ({"bytes": "05", "kind": "request", "framed": True}, "#bytes=05&kind=request&framed=true"),
        (
            {"bytes": "05", "kind": "message", "message": "FetchRequest", "version": "4", "framed": True},
            "#bytes=05&kind=message&message=FetchRequest&version=4",
        ),
        ({"bytes": " ", "kind": "find"}, ""),
        ({"bytes": "00" * 40000, "kind": "find"}, ""),
    ],
)
def test_fragment_of_the_address_has_the_bytes_and_choices(
    values: dict[str, object], fragment: str, protocol: Path
) -> None:
    (answer,) = javascript.ask(protocol, [{"as": "fragment", "values": values}])
    assert answer["fragment"] == fragment
    if fragment:
        chosen = values["kind"] in ("message", "response")
        assert answer["values"] == {
            "bytes": DATA.hex() if values["bytes"] == XXD else str(values["bytes"]).replace(" ", "").strip(),
            "kind": values["kind"],
            "message": values["message"] if chosen else "",
            "version": values["version"] if chosen else "",
            "framed": values["kind"] == "request",
        }


@pytest.mark.parametrize("fragment", ["", "#", "#main", "#bytes=", "#kind=request"])
def test_fragment_without_bytes_is_ignored(fragment: str, protocol: Path) -> None:
    empty = {"bytes": "", "kind": "find"}
    (answer,) = javascript.ask(protocol, [{"as": "fragment", "values": empty, "fragment": fragment}])
    assert answer["values"] is None


def test_unknown_kind_in_a_fragment_means_detection(protocol: Path) -> None:
    question = {"as": "fragment", "values": {"bytes": "", "kind": "find"}, "fragment": "#bytes=05&kind=all"}
    (answer,) = javascript.ask(protocol, [question])
    assert answer["values"]["kind"] == "find"
