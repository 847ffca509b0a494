"""Definitions of a release out of its jars: any release, into any folder."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.release.artifacts import CORE, Jars
from kafka_message_generator.release.constants import ERRORS, enum_constants, error_codes
from kafka_message_generator.release.importer import import_specs

REQUEST = """// Kafka's files have comments.
{ "apiKey": 3, "type": "request", "name": "AskRequest", "validVersions": "0",
  "fields": [ { "name": "Count", "type": "int32", "versions": "0+" } ] }
"""
RESPONSE = '{"apiKey": 3, "type": "response", "name": "AskResponse", "validVersions": "0", "fields": []}'
KEY = """{ "type": "data", "name": "OldKey", "validVersions": "2", "flexibleVersions": "none",
  "fields": [ { "name": "Group", "type": "string", "versions": "2" } ] }"""


def jar(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"common/message/{name}.json", text)
        archive.writestr("kafka/version.json", '{"not": "a definition"}')
    return path


def test_a_release_with_fewer_modules(tmp_path: Path) -> None:
    """Kafka 2.8 has five of them, and the broker's own jar; what nobody published is left out, and what is there loads."""
    paths = (
        jar(tmp_path / "kafka-clients-2.8.2.jar", AskRequest=REQUEST, AskResponse=RESPONSE),
        jar(tmp_path / f"{CORE}-2.8.2.jar", OldKey=KEY),
    )
    jars = Jars("2.8.2", {"kafka-clients": "2.8.2", CORE: "2.8.2"}, paths)
    target = tmp_path / "kafka-2.8"
    assert import_specs(jars, target) == [
        "write SOURCE",
        "write clients/AskRequest.json",
        "write clients/AskResponse.json",
        "write core/OldKey.json",
    ]
    assert import_specs(jars, target) == []
    source = json.loads((target / "SOURCE").read_text())
    assert (source["release"], sorted(source["artifacts"])) == ("2.8.2", ["kafka-clients", CORE])
    assert [plan.name for plan in definitions.load(target).plans] == ["AskRequest", "AskResponse", "OldKey"]


def class_file(*fields: tuple[str, int]) -> bytes:
    """A class with fields of these names and flags, as the JVM specification has it; one constant takes two places."""
    texts = [name.encode() for name, _ in fields]
    pool = b"\x05" + bytes(8) + b"".join(b"\x01" + struct.pack(">H", len(text)) + text for text in texts)
    members = b"".join(
        struct.pack(">HHHH", flags, number + 3, number + 3, 1) + struct.pack(">HI", number + 3, 2) + b"ab"
        for number, (_, flags) in enumerate(fields)
    )
    head = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 61, len(texts) + 3)
    return head + pool + struct.pack(">HHHHH", 1, 0, 0, 1, 9) + struct.pack(">H", len(fields)) + members


def test_constants_of_an_enumeration(tmp_path: Path) -> None:
    """Error codes of sixty releases are read without starting Java; other static fields are none."""
    data = class_file(("NONE", 0x4019), ("log", 0x1A), ("UNKNOWN_TOPIC_ID", 0x4019))
    assert enum_constants(data) == ["NONE", "UNKNOWN_TOPIC_ID"]
    path = tmp_path / "kafka-clients-1.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(ERRORS, data)
    assert error_codes(path) == ["NONE", "UNKNOWN_TOPIC_ID"]
    assert error_codes(jar(tmp_path / "other-1.jar")) == []
