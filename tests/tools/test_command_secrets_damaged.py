"""Every message with secrets at every version, complete, truncated and damaged: no output contains a secret."""

from __future__ import annotations

import base64
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path

import kafka_messages as km
import pytest
from kafka_messages import Message, Request, Response
from kafka_messages.explain import Explanation, explain, explain_record, explain_request, explain_response
from kafka_messages.internal_topics import write_metadata_record, write_versioned
from kafka_messages.protocol import api, encode_request, encode_response
from kafka_records import Record, write_batch

from kafka_messages_tools.capture import Capture, to_line, to_object
from kafka_messages_tools.command import main
from tests.support.packets import Talk, pcap
from tests.support.planting import WITH_SECRETS, planted
from tests.support.random_messages import messages, versions_of

SECRET = "swordfish-and-chips"
DATA = SECRET.encode()
ODD = (0, 1, 0x20, 0x7F, 0x80, 0xFF)
"""Replacement values for a damaged byte."""


def forms() -> Iterator[str]:
    """Yield parts of the secret as text, hex and base64."""
    for piece in (DATA[4:10], DATA[-6:]):
        yield from (piece.decode(), piece.hex(), piece.hex(" "))
    for start in range(6):
        yield base64.b64encode(DATA[start : start + 12]).decode()[:8]


FORMS = list(forms())


def leaks(text: str) -> list[str]:
    return [form for form in FORMS if form in text]


def formatted(found: Explanation) -> str:
    return "\n".join([found.text(width=200, whole=True), *map(json.dumps, found.rows())])


def error_of(message: type[Message], version: int, data: bytes) -> str:
    try:
        message.read(data, version)
    except ValueError as error:
        return str(error)
    return ""


def with_secret(name: str) -> Iterator[tuple[Message, int]]:
    """Yield a message that contains the secret, and its version, for each version that can contain a secret."""
    for version in versions_of(getattr(km, name)):
        message = next(iter(messages(getattr(km, name), version, mixed=0)))
        if planted(message, SECRET):
            yield message, version


def damaged(data: bytes, seed: str, count: int, certain: int = 0) -> Iterator[bytes]:
    """Yield the bytes cut around the secret, then with changed, missing and inserted bytes.

    The first bytes, which identify message and version, stay intact.
    """
    chance = random.Random(seed)
    at = data.find(DATA)
    yield data
    for end in {min(len(data), max(certain, at + step)) for step in range(-2, 22, 4)}:
        yield data[:end]
    for number in range(count):
        place = chance.randrange(max(certain, at - 40), min(len(data), at + 30))
        changed = bytearray(data)
        if number % 3 == 0:
            del changed[place : place + chance.randrange(1, 4)]
        elif number % 3 == 1:
            changed[place] = chance.choice((*ODD, (data[place] + 1) & 255, (data[place] + 20) & 255))
        else:
            changed[place:place] = chance.randbytes(2)
        yield bytes(changed)


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_damaged_bodies_are_redacted(name: str) -> None:
    seen = 0
    for message, version in with_secret(name):
        for data in damaged(message.write(version), f"{name} {version}", 30):
            assert leaks(formatted(explain(data, type(message), version))) == [], (version, data.hex())
            assert leaks(formatted(explain(data, type(message), version, records=True, limit=20))) == [], (
                version,
                data.hex(),
            )
            assert leaks(error_of(type(message), version, data)) == []
        seen += 1
    assert seen


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_damaged_bodies_after_headers_are_redacted(name: str) -> None:
    for message, version in with_secret(name):
        kind = type(message)
        if isinstance(message, Request):
            for data in damaged(encode_request(message, version, 7, "me"), f"{name} {version}", 15, 8):
                assert leaks(formatted(explain_request(data, framed=True))) == [], (version, data.hex())
        elif isinstance(message, Response):
            for data in damaged(encode_response(message, version, 7), f"{name} {version}", 15, 4):
                assert leaks(formatted(explain_response(data, kind, version, framed=True))) == [], (version, data.hex())
        else:
            is_metadata = name.endswith("Record")
            record = write_metadata_record(message, version) if is_metadata else write_versioned(message, version)
            for data in damaged(record, f"{name} {version}", 15):
                assert leaks(formatted(explain_record(data, kind))) == [], (version, data.hex())


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_damaged_messages_on_the_command_line_are_redacted(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = ""
    message, version = list(with_secret(name))[-1]
    other = bytearray(message.write(version))
    other[other.find(DATA) + 1] ^= 2
    whole = message.write(version).hex()
    for form in ("--text", "--json"):
        for data in list(damaged(message.write(version), name, 6))[::2]:
            for words in (("explain", name, str(version)), ("decode", name, str(version)), ("explain",)):
                main([*words, data.hex(), "--in", "hex", form])
        main(["diff", name, str(version), whole, other.hex(), "--in", "hex", form])
    out, err = capsys.readouterr()
    assert leaks(out + err) == []
    assert "(redacted)" in out
    main(["explain", name, str(version), whole, "--in", "hex", "--json", "--show-secrets"])
    printed = capsys.readouterr().out
    assert DATA.hex() in printed


def test_damaged_captures_are_redacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(1)
    shown = 0
    for name in WITH_SECRETS:
        if not name.endswith(("Request", "Response")):
            continue
        for message, version in list(with_secret(name))[-2:]:
            kind = api(type(message))
            asked = message if isinstance(message, Request) else next(messages(kind.request_class, version, mixed=0))
            answer = message if isinstance(message, Response) else next(messages(kind.response_class, version, mixed=0))
            assert isinstance(asked, Request)
            assert isinstance(answer, Response)
            request, response = encode_request(asked, version, 7, "me"), encode_response(answer, version, 7)
            for number in range(6):
                streams = [bytearray(request), bytearray(response)]
                if number:
                    stream = streams[name.endswith("Response")]
                    place = chance.randrange(max(0, stream.find(DATA) - 40), stream.find(DATA) + 10)
                    stream[place] = chance.choice(ODD)
                talk = Talk().open().say(bytes(streams[0])).say(bytes(streams[1]), from_client=False).close()
                packets = list(talk.packets())
                if number == 5:
                    del packets[4]
                found = list(Capture(io.BytesIO(pcap(packets)), ()))
                text = "\n".join([json.dumps(to_object(each)) + to_line(each) for each in found])
                assert leaks(text) == [], (name, version, number)
                file = tmp_path / "x.pcap"
                file.write_bytes(pcap(packets))
                for form in ("--text", "--json"):
                    main(["capture", str(file), "--explain", "1", form])
                    main(["capture", str(file), "--clients", form])
                out, err = capsys.readouterr()
                assert leaks(out + err) == [], (name, version, number)
                shown += "(redacted)" in out + text
    assert shown > 50


def test_damaged_metadata_records_in_logs_are_redacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metadata = [each for each in WITH_SECRETS if each.endswith("Record")]
    values = [write_metadata_record(message, version) for name in metadata for message, version in with_secret(name)]
    for name, topic in (("__cluster_metadata-0", "__cluster_metadata"), ("copied", None)):
        folder = tmp_path / name
        folder.mkdir()
        for number, value in enumerate(values):
            records = [Record(value=data, timestamp=1) for data in damaged(value, str(number), 20) if data[:1] == b"\1"]
            file = folder / f"{number:020}.log"
            file.write_bytes(write_batch(records))
            for form in ("--text", "--json"):
                main(["log", str(file), form, *(["--topic", topic] if topic else [])])
            out, err = capsys.readouterr()
            assert leaks(out + err) == []
            assert out.count("(redacted)") >= len(records)
    assert values
