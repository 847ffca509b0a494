"""Parser of the output of Kafka's dump tool: batches with records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_messages.enums import TransactionStatus

from .kafka import InteropError, Java

SECONDS = 120
SUFFIXES = (".log", ".checkpoint")
"""Endings of segments and metadata snapshots."""
HEX = ("--print-data-log", "--key-decoder-class", "Hex", "--value-decoder-class", "Hex")
DECODERS = {
    "__cluster_metadata": ("--cluster-metadata-decoder",),
    "__consumer_offsets": ("--offsets-decoder",),
    "__share_group_state": ("--share-group-state-decoder",),
    "__transaction_state": ("--transaction-log-decoder",),
}
"""Decoder options of the tool, by topic; for other topics the tool prints keys and values in hex."""
DELETED = "<DELETE>"
"""The tool's text for a coordinator record with a null value."""

FILE = re.compile(r"Dumping (.+)")
BATCH = re.compile(r"baseOffset: .* isvalid: (?:true|false)")
FIELD = re.compile(r"(\w+): (\S+)")
HORIZON = re.compile(r"OptionalLong\[(\d+)\]")
RECORD = re.compile(
    r"\| offset: (?P<offset>\d+) (?P<kind>\w+): (?P<timestamp>-?\d+) keySize: (?P<key_size>-?\d+) "
    r"valueSize: (?P<value_size>-?\d+) sequence: (?P<sequence>-?\d+) headerKeys: \[(?P<headers>[^]]*)\] ?(?P<rest>.*)"
)
MARKER = re.compile(r"endTxnMarker: (?P<type>\w+) coordinatorEpoch: (?P<epoch>-?\d+)")
CONTROL = re.compile(r"(?P<type>[A-Z]\w+):? (?P<data>\{.*\})")
PAIR = re.compile(r"(?:key: (?P<key>.*?))?(?:(?:^| )payload: (?P<payload>.*))?")
CODED_PAIR = re.compile(r"key: (?P<key>\{.*?\}) payload: (?P<payload>\{.*\}|<DELETE>)")

Json = dict[str, Any]


def dump(java: Java, logs: Path) -> Iterator[Json]:
    """Yield the batches of all segments and snapshots below ``logs``, in file order. Raise InteropError."""
    files: dict[tuple[str, ...], list[Path]] = {}
    for path in sorted(path for path in logs.glob("*/*.*") if path.suffix in SUFFIXES):
        files.setdefault(DECODERS.get(path.parent.name.rsplit("-", 1)[0], HEX), []).append(path)
    batches = [
        batch
        for options, paths in files.items()
        for batch in parse(java.run("Dump", *map(str, paths), "--", *options, seconds=SECONDS), logs, options == HEX)
    ]
    yield from sorted(batches, key=lambda batch: (batch["file"], batch["position"]))


def parse(text: str, logs: Path, is_hex: bool) -> Iterator[Json]:
    """Yield the batches in the tool's output. Raise InteropError for unknown lines and for invalid batches."""
    file, batch, records = "", None, list[Json]()
    for line in text.splitlines():
        if line.startswith("| "):
            records.append(_record(line, is_hex))
            continue
        if batch is not None:
            yield _whole(batch, records)
            batch, records = None, []
        if found := FILE.fullmatch(line):
            file = Path(found[1]).relative_to(logs).as_posix()
        elif BATCH.fullmatch(line):
            batch = {"file": file, **_batch(line)}
        elif not line.startswith(("Log starting offset: ", "Snapshot end offset: ")):
            raise InteropError(f"unknown line in the dump of {file or 'no file'}: {line}")
    if batch is not None:
        yield _whole(batch, records)


def _batch(line: str) -> Json:
    fields = dict(FIELD.findall(line))
    if fields.pop("isvalid") != "true":
        raise InteropError(f"the dump tool reports an invalid batch: {line}")
    horizon = HORIZON.fullmatch(fields.pop("deleteHorizonMs"))
    compression, kind = fields.pop("compresscodec"), "CreateTime" if "CreateTime" in fields else "LogAppendTime"
    flags = {name: fields.pop(name) == "true" for name in ("isTransactional", "isControl")}
    numbers = {name: int(value) for name, value in fields.items() if name != kind}
    return {
        **numbers,
        **flags,
        "timestampType": kind,
        "maxTimestamp": int(fields[kind]),
        "compression": compression,
        "deleteHorizon": int(horizon[1]) if horizon else None,
    }


def _whole(batch: Json, records: list[Json]) -> Json:
    if batch["count"] != len(records):
        raise InteropError(f"the dump tool prints {len(records)} of {batch['count']} records of {batch}")
    return batch | {"records": records}


def _record(line: str, is_hex: bool) -> Json:
    found = RECORD.fullmatch(line)
    if found is None:
        raise InteropError(f"the dump tool prints an unknown record format: {line}")
    record: Json = {name: int(found[name]) for name in ("offset", "timestamp", "sequence")}
    if found["headers"]:
        record["headerKeys"] = found["headers"].split(",")
    rest = found["rest"]
    if marker := MARKER.fullmatch(rest):
        record["control"] = {"type": marker["type"], "coordinatorEpoch": int(marker["epoch"])}
    elif control := CONTROL.fullmatch(rest):
        record["control"] = {"type": control["type"], "data": json.loads(control["data"])}
    elif is_hex:
        record |= _plain(line, found, rest)
    elif coded := CODED_PAIR.fullmatch(rest):
        value = coded["payload"]
        payload = None if value == DELETED else _numbered(json.loads(value))
        record |= {"key": json.loads(coded["key"]), "payload": payload}
    elif rest.startswith("payload: {"):
        record["payload"] = json.loads(rest.removeprefix("payload: "))
    else:
        raise InteropError(f"the dump tool could not decode: {line}")
    return record


def _numbered(payload: Json) -> Json:
    """Replace the name of a transaction's status, which kafka-tools prints from 4.4.0 on, by its number."""
    data = payload.get("data", {})
    if isinstance(status := data.get("transactionStatus"), str):
        data["transactionStatus"] = TransactionStatus[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", status).upper()].value
    return payload


def _plain(line: str, found: re.Match[str], rest: str) -> Json:
    pair = PAIR.fullmatch(rest.rstrip(" ") if found["value_size"] != "0" else rest)
    values: Json = {name: pair[name] if pair else None for name in ("key", "payload")}
    for name, size in (("key", found["key_size"]), ("payload", found["value_size"])):
        length = -1 if values[name] is None else len(values[name]) // 2
        if length != int(size):
            raise InteropError(f"the dump tool prints a {name} of the wrong size: {line}")
    return values
