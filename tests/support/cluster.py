"""The files of a real broker, and the output of Kafka's own clients and tools: examples/cluster or a new one."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID

import kafka_messages
from kafka_messages import ConsumerProtocolAssignment, ConsumerProtocolSubscription, Message
from kafka_messages.internal_topics import LOGS, RECORD_TYPES, read_versioned
from kafka_messages.json import from_json, to_json

COMMITTED = Path(__file__).parents[2] / "examples" / "cluster"
METADATA = "__cluster_metadata"
COORDINATORS = ("__consumer_offsets", "__share_group_state", "__transaction_state")
DELETED = re.compile(r"-delete/")
# Suffix of keys in Kafka's request log, which has the size of records in place of the records.
SIZE = "sizeinbytes"
COMMIT_TYPE = 1  # Record type of an offset commit.

# Bytes fields in members of classic groups, and the messages that the dump tool finds in them.
PROTOCOLS = {"subscription": ConsumerProtocolSubscription, "assignment": ConsumerProtocolAssignment}

Json = dict[str, Any]
Place = tuple[str, int, int]  # Topic, partition and offset.


@dataclass(frozen=True)
class Decoded:
    """An internal record as the dump tool decodes it: location, and Kafka's JSON of key and value."""

    file: str
    offset: int
    type: int  # record type: its number before a key, or in a metadata record
    version: int | None  # version of the value; None for a tombstone
    key: Json | None
    value: Json | None

    def messages(self, topic: str) -> tuple[Message | None, Message | None]:
        """Return key and value as objects, without bytes that the tool also decoded."""
        types = {number: (key, value) for log, number, key, value in RECORD_TYPES if log == LOGS[topic]}
        key, value = types[self.type]
        return _object(key, self.key, 0), _object(value, self.value, self.version)


def _object(name: str | None, logged: Json | None, version: int | None) -> Message | None:
    if name is None or logged is None:
        return None
    if name == "GroupMetadataValue":
        logged = logged | {"members": [member | dict.fromkeys(PROTOCOLS, "") for member in logged["members"]]}
    message: Message = from_json(getattr(kafka_messages, name), logged, version or 0)
    return message


@dataclass(frozen=True)
class Cluster:
    """A folder written by ``tests.interop.make``."""

    folder: Path

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @cached_property
    def expected(self) -> Json:
        """Return the responses that the admin client printed."""
        expected: Json = json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
        return expected

    @cached_property
    def records(self) -> dict[Place, Json]:
        """Return each record that a consumer received, with raw bytes."""
        found = {}
        for row in self._lines("records.jsonl"):
            for name in ("key", "value"):
                row[name] = unhex(row[name])
            row["headers"] = [(key, unhex(value)) for key, value in row["headers"]] or None
            found[row["topic"], row["partition"], row["offset"]] = row
        return found

    @cached_property
    def batches(self) -> list[Json]:
        return self._lines("dump.jsonl.gz")

    @property
    def traffic(self) -> Path:
        """Return the folder of captured connections: ``<connection>.request.bin`` and ``<connection>.response.bin``."""
        return self.folder / "traffic"

    @cached_property
    def requests(self) -> dict[tuple[str, int], Json]:
        """Return the broker's log of each captured request, by connection and correlation id."""
        return {(each["connection"], each["correlationId"]): each for each in self._lines("requests.jsonl.gz")}

    def decoded(self, topic: str) -> list[Decoded]:
        """Return the records of an internal topic, without control records, as the dump tool decodes them."""
        kind = _metadata_record if topic == METADATA else _coordinator_record
        return [
            kind(batch["file"], record)
            for batch in self.batches
            if topic_of(batch["file"]) == topic and not batch["isControl"]
            for record in batch["records"]
        ]

    def _lines(self, name: str) -> list[Json]:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(self.folder / name, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]


def topic_of(file: str) -> str:
    """Return the topic of a file in a dump."""
    return file.split("/")[0].rsplit("-", 1)[0]


def unhex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def milliseconds(time: datetime) -> int:
    """Return a timestamp of Arrow or Spark in milliseconds; without a time zone it is UTC."""
    moment = time if time.tzinfo else time.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def _coordinator_record(file: str, record: Json) -> Decoded:
    value = record["payload"]
    version, data = (None, None) if value is None else (int(value["version"]), value["data"])
    return Decoded(file, record["offset"], int(record["key"]["type"]), version, record["key"]["data"], data)


def _metadata_record(file: str, record: Json) -> Decoded:
    value = record["payload"]
    return Decoded(file, record["offset"], _METADATA_TYPES[value["type"]], value["version"], None, value["data"])


# Kafka's names (``MetadataRecordType``) and numbers of metadata records.
_METADATA_TYPES = {
    re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", value).upper(): number
    for log, number, _, value in RECORD_TYPES
    if log == LOGS[METADATA] and value
}


# ---- rows against Kafka's JSON


def as_printed(value: Json | None) -> Json | None:
    """Return our JSON of a coordinator's value as the dump tool prints it, which decodes bytes in members of classic
    groups."""
    if value is None or value.get("protocolType") != "consumer" or "members" not in value:
        return value
    members = [
        member | {name: _protocol(name, base64.b64decode(member[name])) for name in PROTOCOLS}
        for member in value["members"]
    ]
    return value | {"members": members}


def _protocol(name: str, data: bytes) -> Json:
    return to_json(*read_versioned(PROTOCOLS[name], data))


def differences(logged: object, row: object, message: object, path: str = "") -> Iterator[str]:
    """Yield the differences of a row (``asDict(recursive=True)`` or ``as_py``) from Kafka's JSON.

    Members that the JSON omits must be null or have the default in ``message``, the decoded object.
    """
    if isinstance(logged, Mapping) and isinstance(row, Mapping):
        values = {_plain(name): value for name, value in logged.items()}
        for name, value in row.items():
            part = getattr(message, name)
            if _plain(name) + SIZE in values:
                size = values.pop(_plain(name) + SIZE)
                if size != (None if value is None else len(value)):
                    yield f"{path}.{name} has not the {size} bytes that Kafka says"
            elif _plain(name) in values:
                yield from differences(values.pop(_plain(name)), value, part, f"{path}.{name}")
            elif value is not None and not _is_default(value, part):
                yield f"{path}.{name} is {value!r}, and Kafka does not say so"
        yield from (f"{path}: {name} is missing" for name in values)
    elif isinstance(logged, list) and isinstance(row, list) and isinstance(message, Iterable):
        if len(logged) != len(row):
            yield f"{path} has {len(row)} elements, and by Kafka {len(logged)}"
        for i, (one, other, part) in enumerate(zip(logged, row, message, strict=False)):
            yield from differences(one, other, part, f"{path}[{i}]")
    elif isinstance(logged, Mapping) and isinstance(row, (bytes, bytearray)):
        if logged != (found := _protocol(path.rsplit(".", 1)[-1], bytes(row))):
            yield f"{path} is {found!r}, and by Kafka {logged!r}"
    elif logged != (base64.b64encode(row).decode() if isinstance(row, (bytes, bytearray)) else row):
        yield f"{path} is {row!r}, and by Kafka {logged!r}"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _is_default(value: object, default: object) -> bool:
    if isinstance(value, Mapping):
        return all(part is None or _is_default(part, getattr(default, name)) for name, part in value.items())
    if isinstance(default, UUID):
        return value == base64.urlsafe_b64encode(default.bytes).decode().rstrip("=")
    if isinstance(default, Sequence) and not isinstance(default, (str, bytes)):
        return value == list(default)
    return value == default


# ---- committed offsets of a log


@dataclass(frozen=True)
class Commit:
    """An offset commit or its deletion, with its batch and control records."""

    partition: int  # of the log
    offset: int  # in the log
    producer_id: int
    is_transactional: bool
    control_type: str | None  # COMMIT or ABORT for a control record, which has none of the following
    group: str | None = None
    of: str | None = None  # topic and partition of the commit
    committed: Json | None = None  # offset, leader epoch and metadata; None for a tombstone


def committed_offsets(commits: Iterable[Commit]) -> dict[str, dict[str, Json]]:
    """Return the offsets of each group as the coordinator sees them: those of transactions count after their commit."""
    groups: dict[str, dict[str, Json]] = {}
    waiting: dict[tuple[int, int], list[Commit]] = {}
    for each in sorted(commits, key=lambda commit: (commit.partition, commit.offset)):
        producer = each.partition, each.producer_id
        if each.control_type is not None:
            ended = waiting.pop(producer, [])
            for commit in ended if each.control_type == "COMMIT" else ():
                _apply(groups, commit)
        elif each.is_transactional:
            waiting.setdefault(producer, []).append(each)
        else:
            _apply(groups, each)
    return {group: offsets for group, offsets in groups.items() if offsets}


def _apply(groups: dict[str, dict[str, Json]], commit: Commit) -> None:
    offsets = groups.setdefault(str(commit.group), {})
    if commit.committed is None:
        offsets.pop(str(commit.of), None)
    else:
        offsets[str(commit.of)] = commit.committed
