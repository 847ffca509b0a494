"""The files of a real broker and what Kafka's own clients and tools say of them: examples/cluster, or a new one."""

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
from kafka_messages import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka_messages._base.message import Message
from kafka_messages.internal_topics import LOGS, read_versioned
from kafka_messages.internal_topics._tables import RECORD_TYPES
from kafka_messages.json import from_json, to_json

COMMITTED = Path(__file__).parents[2] / "examples" / "cluster"
METADATA = "__cluster_metadata"
COORDINATORS = ("__consumer_offsets", "__share_group_state", "__transaction_state")
DELETED = re.compile(r"-delete/")
SIZE = "sizeinbytes"
"""Ending of what Kafka's request log has in the place of records: their size."""
COMMIT_TYPE = 1
"""Record type of an offset commit."""

PROTOCOLS = {"subscription": ConsumerProtocolSubscription, "assignment": ConsumerProtocolAssignment}
"""Fields of a classic group's members that are bytes, and the messages that the dump tool finds in these."""

Json = dict[str, Any]
Place = tuple[str, int, int]
"""Topic, partition and offset."""


@dataclass(frozen=True)
class Decoded:
    """An internal record as the dump tool decodes it: where it is, and Kafka's JSON of its key and value."""

    file: str
    offset: int
    type: int
    """The record type: its number before a key, or in a metadata record."""
    version: int | None
    """Version of the value; None for a tombstone."""
    key: Json | None
    value: Json | None

    def messages(self, topic: str) -> tuple[Message | None, Message | None]:
        """Key and value as objects; bytes that the tool decoded as well are left out."""
        types = {number: (key, value) for log, number, key, value in RECORD_TYPES if log == LOGS[topic]}
        key, value = types[self.type]
        return _object(key, self.key, 0), _object(value, self.value, self.version)


def _object(name: str | None, said: Json | None, version: int | None) -> Message | None:
    if name is None or said is None:
        return None
    if name == "GroupMetadataValue":
        said = said | {"members": [member | dict.fromkeys(PROTOCOLS, "") for member in said["members"]]}
    message: Message = from_json(getattr(kafka_messages, name), said, version or 0)
    return message


@dataclass(frozen=True)
class Cluster:
    """A folder as ``tests.interop.make`` leaves it."""

    folder: Path

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @cached_property
    def answers(self) -> Json:
        """What the admin client said."""
        answers: Json = json.loads((self.folder / "answers.json").read_text(encoding="utf-8"))
        return answers

    @cached_property
    def records(self) -> dict[Place, Json]:
        """Each record that a consumer got; bytes are bytes."""
        found = {}
        for row in self._lines("records.jsonl"):
            for name in ("key", "value"):
                row[name] = unhex(row[name])
            row["headers"] = [(key, unhex(value)) for key, value in row["headers"]] or None
            found[row["topic"], row["partition"], row["offset"]] = row
        return found

    @cached_property
    def batches(self) -> list[Json]:
        """Each batch as the dump tool printed it."""
        return self._lines("dump.jsonl.gz")

    @property
    def traffic(self) -> Path:
        """Captured connections: ``<connection>.request.bin`` and ``<connection>.response.bin``."""
        return self.folder / "traffic"

    @cached_property
    def requests(self) -> dict[tuple[str, int], Json]:
        """What the broker logged of each captured request, by connection and correlation id."""
        return {(each["connection"], each["correlationId"]): each for each in self._lines("requests.jsonl.gz")}

    def decoded(self, topic: str) -> list[Decoded]:
        """The records of an internal topic, but no control records, as the dump tool decodes them."""
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
    """The topic of a file named by the dump."""
    return file.split("/")[0].rsplit("-", 1)[0]


def unhex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def milliseconds(time: datetime) -> int:
    """Of a timestamp as Arrow and Spark have it; without a zone it is UTC."""
    moment = time if time.tzinfo else time.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def _coordinator_record(file: str, record: Json) -> Decoded:
    value = record["payload"]
    version, data = (None, None) if value is None else (int(value["version"]), value["data"])
    return Decoded(file, record["offset"], int(record["key"]["type"]), version, record["key"]["data"], data)


def _metadata_record(file: str, record: Json) -> Decoded:
    value = record["payload"]
    return Decoded(file, record["offset"], _METADATA_TYPES[value["type"]], value["version"], None, value["data"])


_METADATA_TYPES = {
    re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", value).upper(): number
    for log, number, _, value in RECORD_TYPES
    if log == LOGS[METADATA] and value
}
"""Kafka's names of metadata records (``MetadataRecordType``) and their numbers."""


# ---- rows against Kafka's JSON


def as_printed(value: Json | None) -> Json | None:
    """Our JSON of a coordinator's value as the dump tool prints it, which decodes bytes of a classic group's members."""
    if value is None or value.get("protocolType") != "consumer" or "members" not in value:
        return value
    members = [
        member | {name: _protocol(name, base64.b64decode(member[name])) for name in PROTOCOLS}
        for member in value["members"]
    ]
    return value | {"members": members}


def _protocol(name: str, data: bytes) -> Json:
    return to_json(*read_versioned(PROTOCOLS[name], data))


def differences(said: object, row: object, message: object, path: str = "") -> Iterator[str]:
    """Where a row (as ``asDict(recursive=True)`` or ``as_py``) is not what Kafka's JSON says.

    What the JSON leaves out must be null or have the default, which ``message``, the same as an object, has.
    """
    if isinstance(said, Mapping) and isinstance(row, Mapping):
        values = {_plain(name): value for name, value in said.items()}
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
    elif isinstance(said, list) and isinstance(row, list) and isinstance(message, Iterable):
        if len(said) != len(row):
            yield f"{path} has {len(row)} elements, and by Kafka {len(said)}"
        for i, (one, other, part) in enumerate(zip(said, row, message, strict=False)):
            yield from differences(one, other, part, f"{path}[{i}]")
    elif isinstance(said, Mapping) and isinstance(row, (bytes, bytearray)):
        if said != (found := _protocol(path.rsplit(".", 1)[-1], bytes(row))):
            yield f"{path} is {found!r}, and by Kafka {said!r}"
    elif said != (base64.b64encode(row).decode() if isinstance(row, (bytes, bytearray)) else row):
        yield f"{path} is {row!r}, and by Kafka {said!r}"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _is_default(value: object, default: object) -> bool:
    """Whether a value of a row is this one of an object."""
    if isinstance(value, Mapping):
        return all(part is None or _is_default(part, getattr(default, name)) for name, part in value.items())
    if isinstance(default, UUID):
        return value == base64.urlsafe_b64encode(default.bytes).decode().rstrip("=")
    if isinstance(default, Sequence) and not isinstance(default, (str, bytes)):
        return value == list(default)
    return value == default


# ---- what a log comes to


@dataclass(frozen=True)
class Commit:
    """An offset commit, or its deletion, and what its batch and control records say."""

    partition: int
    """Of the log."""
    offset: int
    """In the log."""
    producer_id: int
    is_transactional: bool
    control_type: str | None
    """COMMIT or ABORT for a control record, which has none of the rest."""
    group: str | None = None
    of: str | None = None
    """Topic and partition that the commit is about."""
    committed: Json | None = None
    """Offset, leader epoch and metadata; None for a tombstone."""


def committed_offsets(commits: Iterable[Commit]) -> dict[str, dict[str, Json]]:
    """The offsets of each group, as the coordinator has them: those of transactions count once these commit."""
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
