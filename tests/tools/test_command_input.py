"""Input formats on the command line: detection of the format, and error messages."""

from __future__ import annotations

import base64
import random
import shutil
import subprocess
from collections.abc import Callable

import pytest

from kafka_messages_tools.command._input import decoded

Rejection = Callable[..., str]  # Passes text or bytes to the command and returns why it rejects them.
DATA = bytes.fromhex("0000001e001200030000000700026d6500056a61766106342e342e3001e807012a")


def auto(text: str | bytes) -> bytes:
    return decoded(text if isinstance(text, bytes) else text.encode(), "auto", "the input")


def xxd(data: bytes) -> str:
    lines = []
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:08x}: {part.hex(' ', -2):<39}  {shown}\n")
    return "".join(lines)


def hexdump(data: bytes) -> str:
    lines = []
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        halves = f"{part[:8].hex(' '):<23}  {part[8:].hex(' '):<23}"
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:08x}  {halves}  |{shown}|\n")
    return "".join(lines) + f"{len(data):08x}\n"


def wireshark(data: bytes) -> str:
    lines = []
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        halves = f"{part[:8].hex(' ')}  {part[8:].hex(' ')}".rstrip()
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:04x}   {halves:<48}   {shown}\n")
    return "".join(lines)


def c_array(data: bytes) -> str:
    """Return data as Wireshark copies it as a C array."""
    lines = [f"/* Frame ({len(data)} bytes) */\nstatic const unsigned char pkt1[{len(data)}] = {{\n"]
    for at in range(0, len(data), 8):
        part = data[at : at + 8]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{', '.join(f'0x{byte:02x}' for byte in part)}{',' * (at + 8 < len(data))} /* {shown} */\n")
    return "".join(lines) + "};\n"


FORMS: dict[str, str | bytes] = {
    "hex": DATA.hex(),
    "upper case": DATA.hex().upper(),
    "blanks": DATA.hex(" "),
    "colons": DATA.hex(":"),
    "0x before all": f"0x{DATA.hex()}",
    "0x before each": " ".join(f"0x{byte:02x}" for byte in DATA),
    "lines": "\n".join(DATA.hex()[at : at + 20] for at in range(0, 2 * len(DATA), 20)) + "\n",
    "xxd": xxd(DATA),
    "hexdump": hexdump(DATA),
    "wireshark": wireshark(DATA),
    "base64": base64.b64encode(DATA).decode(),
    "base64 in lines": base64.encodebytes(DATA).decode(),
    "url-safe base64": base64.urlsafe_b64encode(DATA).decode().rstrip("="),
    "Python": repr(DATA),
    "Python list": str(list(DATA)),
    "bytes of a list": f"bytes({list(DATA)})",
    "C": "{" + ", ".join(f"0x{byte:02x}" for byte in DATA) + "};",
    "C with a declaration": "static const unsigned char data[] = {" + ", ".join(map(str, DATA)) + "};",
    "C of Wireshark": c_array(DATA),
    "Java with a declaration": "byte[] data = {" + ", ".join(f"(byte) {byte}" for byte in DATA) + "};",
    "C text": '"' + "".join(f"\\x{byte:02x}" for byte in DATA) + '"',
    "Java": "{" + ", ".join(f"(byte) {byte}" for byte in DATA) + "}",
    "Python's hex": f"bytes.fromhex('{DATA.hex(' ')}')",
    "Python's hex in pieces": f'bytearray.fromhex(\n    "{DATA.hex()[:20]}"\n    "{DATA.hex()[20:]}"\n)',
    "escapes alone": "".join(f"\\x{byte:02x}" for byte in DATA),
    "raw": DATA,
    "nothing": b"",
}


@pytest.mark.parametrize("form", FORMS)
def test_input_format_is_detected(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert auto(FORMS[form]) == (b"" if form == "nothing" else DATA)
    assert capsys.readouterr().err == ""


def test_random_dumps_are_decoded() -> None:
    draw = random.Random(14)
    for _ in range(300):
        data = bytes(
            draw.choice((0, 0x61, 0x20, 0x7C, 0x31, draw.randrange(256))) for _ in range(draw.randrange(1, 70))
        )
        for dump in (xxd(data), hexdump(data), wireshark(data)):
            assert auto(dump) == data, dump


@pytest.mark.skipif(shutil.which("xxd") is None, reason="xxd is not installed")
def test_output_of_xxd_is_decoded() -> None:
    printed = subprocess.run(["xxd"], input=DATA * 9, capture_output=True, check=True).stdout
    assert auto(printed) == DATA * 9


def test_asterisk_in_dump_repeats_the_line() -> None:
    assert (
        auto("00000000  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|\n*\n00000030\n")
        == b"a" * 48
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "00000000: 0012\n*\nffffffffff: 01\n",
            "the dump extends to the address ffffffffff, more than 268435456 bytes",
        ),
        ("00000000: 0012 0003\n00000008: 01\n", "the dump continues at the address 8, expected 4"),
        ("00000000: 0012 0003\n00000004: 0x\n", "the row of the dump at the address 4 is not hex"),
        ("00000000  00 12\n00000004  01\n00000005  02\n", "the dump continues at the address 4, expected 2"),
    ],
)
def test_dump_with_gap_is_rejected(text: str, says: str, rejection: Rejection) -> None:
    assert rejection(text) == f"standard input: {says}"


@pytest.mark.parametrize("printed", [xxd, hexdump, wireshark])
@pytest.mark.parametrize("removed", [1, 2, 3])
def test_dump_without_a_row_is_rejected(removed: int, printed: Callable[[bytes], str], rejection: Rejection) -> None:
    lines = printed(DATA * 2).splitlines()
    lines[removed : removed + 1] = []
    expected, at = 16 * removed, 16 * (removed + 1)
    assert (
        rejection("\n".join(lines))
        == f"standard input: the dump continues at the address {at:x}, expected {expected:x}"
    )


@pytest.mark.parametrize("printed", [xxd, hexdump, wireshark])
def test_dump_with_a_damaged_row_is_rejected(printed: Callable[[bytes], str], rejection: Rejection) -> None:
    lines = printed(DATA * 2).splitlines()
    for damaged, says in ((2, ", which continues at the address 30"), (len(lines) - 1, "")):
        text = "\n".join("zz" + line[2:] if at == damaged else line for at, line in enumerate(lines))
        assert rejection(text) == f"standard input: line {damaged + 1} is not a row of the hex dump{says}"


def test_hex_that_looks_like_two_rows_is_decoded() -> None:
    assert auto("0000  0012\n0040  0001\n") == bytes.fromhex("0000001200400001")


def test_tcpdump_output_is_decoded() -> None:
    assert auto("\t0x0000:  4500 003c 1c46  E..<.F\n\t0x0006:  4000  @.\n") == bytes.fromhex("4500003c1c464000")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_bom_and_utf_16_text_is_decoded(encoding: str) -> None:
    text = "00 12 00 03".encode(encoding)
    assert auto(b"\xff\xfe" + text if encoding == "utf-16-le" else text) == bytes.fromhex("00120003")


def test_odd_number_of_digits_after_0x_is_rejected(rejection: Rejection) -> None:
    start = "standard input is not hex: odd number of hex digits (1); "
    assert rejection("0x1") == f"{start}for other formats use --in base64 or --in raw"


def test_ambiguous_input_is_decoded_as_hex_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert auto("cafecafe") == b"\xca\xfe\xca\xfe"
    assert capsys.readouterr().err == "note: the input is read as hex; for base64 use --in base64\n"
    assert decoded(b"cafecafe", "base64", "the input") == base64.b64decode("cafecafe")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DATA.hex()[:-1], "the input is not hex: odd number of hex digits (65)"),
        ("00 1", "the input is not hex: odd number of hex digits (3)"),
        ("00 1 22", "the input is not hex: single hex digit at line 1, column 4; bytes have two digits"),
        ("00 11\n22 3g", "the input is not hex: 'g' at line 2, column 5 is not a hex digit"),
        ("hello, world", "the input is neither hex nor base64: ',' at line 1, column 6 is not a base64 character"),
        ("[1, 2, 256]", "256 is not a number from -128 to 255"),
        ("byte[] data = {0x01, zwei};", "'zwei' is not a number from -128 to 255"),
        ("char a[] = {1 /* */ */};", "'1   */' is not a number from -128 to 255"),
        ("{0x01, zwei}", "'zwei' is not a number from -128 to 255"),
        (r'"\xg1"', r"\xg1 at character 2 is not a byte"),
        (r'"\q"', r"\q at character 2 is not a valid escape"),
        (r'bytes("\xg1")', r"\xg1 at character 8 is not a byte"),
        (r' bytearray([b"\q"]);', r"\q at character 15 is not a valid escape"),
        ("bytes(b'a' c)", "'c' at character 12 is outside the quotes"),
        ('"abc', 'unterminated string that starts with "'),
        ("b'ab' b'cd", "unterminated string that starts with '"),
        ("bytes.fromhex('05 6')", "odd number of hex digits (3)"),
        (r"bytes.fromhex('\xff')", "'ÿ' at line 1, column 1 is not a hex digit"),
        ("bytes.fromhex(5)", "bytes.fromhex requires a string of hex digits"),
    ],
)
def test_invalid_hex_base64_or_literal_is_rejected(text: str, says: str, rejection: Rejection) -> None:
    ends = {
        "the input is not hex": "; for other formats use --in base64 or --in raw",
        "the input is neither hex": "; for raw bytes use --in raw",
    }
    expected = says + next((end for start, end in ends.items() if says.startswith(start)), "")
    assert rejection(text) == expected.replace("the input", "standard input")


@pytest.mark.parametrize("text", ["AAAAA", "AA=A"])
def test_base64_with_invalid_length_or_padding_is_rejected(text: str, rejection: Rejection) -> None:
    assert rejection(text, "base64") == f"invalid length or padding of base64: {len(text)} characters"


def test_explicit_input_format_is_used(rejection: Rejection) -> None:
    assert decoded(b"00", "raw", "the input") == b"00"
    assert rejection(b"\xff\0", "hex") == "standard input is binary, not hex; use --in raw"
