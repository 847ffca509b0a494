"""Import of definitions and error codes from the jars of any release."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path

import pytest

from kafka_message_generator import definitions
from kafka_message_generator.compat.store import HistoryError
from kafka_protocol_upstream.kafka.artifacts import CORE, Jars
from kafka_protocol_upstream.kafka.constants import ERRORS, enum_constants, enum_numbers, error_codes
from kafka_protocol_upstream.kafka.definitions import import_specs
from kafka_protocol_upstream.kafka.history import import_history
from tests.support.full_disk import fill_disk

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


def test_old_release_with_fewer_modules_is_imported(tmp_path: Path) -> None:
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


def class_file(*fields: tuple[str, int], code: bytes = b"") -> bytes:
    """Return a class file with fields (name and flags), followed by ``code``.

    Constant 1 takes two slots, so field name N is constant 3 + N, and the String with it is 3 + N + len(fields).
    """
    texts = [name.encode() for name, _ in fields]
    pool = b"\x05" + bytes(8) + b"".join(b"\x01" + struct.pack(">H", len(text)) + text for text in texts)
    pool += b"".join(b"\x08" + struct.pack(">H", number + 3) for number in range(len(texts)))
    members = b"".join(
        struct.pack(">HHHH", flags, number + 3, number + 3, 1) + struct.pack(">HI", number + 3, 2) + b"ab"
        for number, (_, flags) in enumerate(fields)
    )
    head = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 61, 2 * len(texts) + 3)
    return head + pool + struct.pack(">HHHHH", 1, 7, 0, 1, 9) + struct.pack(">H", len(fields)) + members + code


MADE = b"\xbb\x00\x07\x59"  # Bytecode of ``new`` for the class itself (constant 7) and ``dup``.


def test_enum_constants_and_numbers_are_read_from_a_class_file(tmp_path: Path) -> None:
    fields = ("NONE", 0x4019), ("log", 0x1A), ("UNKNOWN_TOPIC_ID", 0x4019), ("FAR", 0x4019)
    code = MADE + b"\x12\x07" + b"\x03" + b"\x02" + b"\x01"  # ldc, iconst_0, iconst_m1, aconst_null
    code += MADE + b"\x13\x00\x09" + b"\x10\x01" + b"\x10\x64"  # ldc_w, bipush 1, bipush 100
    code += MADE + b"\x12\x0a" + b"\x05" + b"\x11\x01\x00"  # ldc, iconst_2, sipush 256
    data = class_file(*fields, code=code)
    assert enum_constants(data) == ["NONE", "UNKNOWN_TOPIC_ID", "FAR"]
    assert enum_numbers(data) == {"NONE": -1, "UNKNOWN_TOPIC_ID": 100, "FAR": 256}
    path = tmp_path / "kafka-clients-1.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(ERRORS, data)
    assert error_codes(path) == enum_numbers(data)
    assert error_codes(jar(tmp_path / "other-1.jar")) == {}


def test_enum_constant_without_number_raises_history_error(tmp_path: Path) -> None:
    data = class_file(("NONE", 0x4019), ("OTHER", 0x4019), code=MADE + b"\x12\x05\x03\x03")
    with pytest.raises(ValueError, match=r"^enum constants without a numeric argument: OTHER$"):
        enum_numbers(data)
    path = tmp_path / "kafka-clients-3.0.0.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(ERRORS, data)
        archive.writestr("common/message/AskRequest.json", REQUEST)
    with pytest.raises(HistoryError) as caught:
        import_history({"3.0.0": [path]}, tmp_path / "history")
    assert str(caught.value) == f"{path}: cannot read the error codes: enum constants without a numeric argument: OTHER"


def test_full_disk_leaves_the_earlier_definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jar(tmp_path / "kafka-clients-2.8.2.jar", AskRequest=REQUEST)
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "AskRequest.json").write_text(REQUEST)
    fill_disk(monkeypatch)
    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{tmp_path / 'SOURCE'}'")):
        import_specs(Jars("2.8.2", {"kafka-clients": "2.8.2"}, (path,)), tmp_path)
    assert [each.name for each in (tmp_path / "clients").iterdir()] == ["AskRequest.json"]


@pytest.mark.parametrize("name", ["../../../victim", "/victim", "a/b", "", "A\n", "Ünï"])
def test_name_that_cannot_be_a_file_name_is_an_error(name: str, tmp_path: Path) -> None:
    path = jar(tmp_path / "kafka-clients-2.8.2.jar", AskRequest=json.dumps(json.loads(RESPONSE) | {"name": name}))
    with pytest.raises(HistoryError) as raised:
        import_specs(Jars("2.8.2", {"kafka-clients": "2.8.2"}, (path,)), tmp_path / "specs")
    place = "kafka-clients-2.8.2.jar!common/message/AskRequest.json"
    what = "use ASCII letters and digits, and start with a letter"
    assert str(raised.value) == f"{place}: invalid message name {name!r}; {what}"
    assert not (tmp_path / "specs").exists()


def test_definitions_of_others_are_not_deleted(tmp_path: Path) -> None:
    path = jar(tmp_path / "kafka-clients-2.8.2.jar", AskRequest=REQUEST)
    target = tmp_path / "specs"
    for name in ("mine/Own.json", "clients/Old.json", "package.json"):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text("{}")
    changes = import_specs(Jars("2.8.2", {"kafka-clients": "2.8.2"}, (path,)), target)
    assert changes == ["write SOURCE", "write clients/AskRequest.json", "delete clients/Old.json"]
    assert (target / "mine" / "Own.json").exists()


def test_jar_that_unpacks_to_too_much_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "kafka-clients-2.8.2.jar"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.json", "b.json", ERRORS):
            archive.writestr(name, bytes(40 << 20))
    what = f"{path}: unpacks to more than 67,108,864 bytes of definitions"
    with pytest.raises(HistoryError, match=re.escape(what)):
        import_specs(Jars("2.8.2", {"kafka-clients": "2.8.2"}, (path,)), tmp_path / "specs")
