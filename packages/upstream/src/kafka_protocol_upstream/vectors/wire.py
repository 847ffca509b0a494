"""Vectors beyond single messages, written with Kafka's classes: whole frames, record batches, version negotiation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_protocol_upstream.kafka.artifacts import Jars
from kafka_protocol_upstream.vectors.java_oracle import JavaClasses, Oracle, OracleError
from kafka_protocol_upstream.vectors.samples import Json, sample
from kafka_protocol_upstream.vectors.write import MessageSample, compact, write_compressed

UNKNOWN_TAGS = "_unknownTaggedFields"
TAGS: list[Json] = [{"tag": 100, "data": "AQID"}, {"tag": 20_000, "data": ""}]
HEADER: dict[str, Json] = {"correlationId": 1, "clientId": "vectors"}
VARIED = ("ApiVersionsRequest", "ApiVersionsResponse", "MetadataRequest", "MetadataResponse")
"""Messages whose lowest and highest version have frames with unusual headers."""
UNUSUAL: dict[str, dict[str, Json]] = {
    "lowest_correlation_id": {"correlationId": -(1 << 31)},
    "highest_correlation_id": {"correlationId": (1 << 31) - 1},
    "negative_correlation_id": {"correlationId": -1},
    "null_client_id": {"clientId": None},
    "empty_client_id": {"clientId": ""},
    "long_client_id": {"clientId": "x" * 200},
    "non_ascii_client_id": {"clientId": "größe ☃ 😀"},
}


@dataclass(frozen=True)
class FrameCase:
    case: MessageSample
    kind: str
    header: dict[str, Json]
    body: Json


def write_frames(java: Oracle, jars: Jars, cases: Sequence[MessageSample], target: Path) -> int:
    """Write ``frames/kafka-<release>.jsonl.gz`` for the requests and responses among ``cases``; return the frame count.

    Writes no file without frames. Raises OracleError if Kafka's classes reject a frame.
    """
    frames = [frame for case in _each_version(cases) for frame in _frames(case)]
    classes = JavaClasses(jars)
    questions = [
        replace(classes.question(each.case.definition, each.case.version, each.body), header=each.header)
        for each in frames
    ]
    lines = [_line(*pair) for pair in zip(frames, java.encode_raw(questions), strict=True)] if frames else []
    return _write(lines, "frames", jars, target)


def write_table(java: Oracle, name: str, jars: Jars, target: Path) -> int:
    """Write ``<name>/kafka-<release>.jsonl.gz`` with the lines of ``batches`` or ``negotiation``; return their count."""
    return _write(java.table(name), name, jars, target)


def _write(lines: Sequence[Json], name: str, jars: Jars, target: Path) -> int:
    if lines:
        (target / name).mkdir(parents=True, exist_ok=True)
        text = "".join(compact(line) + "\n" for line in lines)
        write_compressed(target / name / f"kafka-{jars.release}.jsonl.gz", text)
    return len(lines)


def _each_version(cases: Sequence[MessageSample]) -> list[MessageSample]:
    messages = [case for case in cases if case.definition.type in ("request", "response")]
    return list({(case.definition.name, case.version): case for case in messages}.values())


def _frames(case: MessageSample) -> Iterator[FrameCase]:
    definition, version = case.definition, case.version
    body = sample(definition, version, "full")
    yield FrameCase(case, "full", HEADER, body)
    if version in definition.flexible:
        # The header of an ApiVersionsResponse has no tags at any version (KIP-511).
        tags: dict[str, Json] = {} if definition.name == "ApiVersionsResponse" else {UNKNOWN_TAGS: TAGS}
        root = _tagged(body)
        assert isinstance(root, dict)  # a message
        yield FrameCase(case, "unknown_tags", HEADER | tags, root | {UNKNOWN_TAGS: TAGS})
    if definition.name in VARIED and version in (definition.versions.lowest, definition.versions.highest):
        for kind, header in UNUSUAL.items():
            if definition.type == "request" or "clientId" not in header:
                yield FrameCase(case, kind, HEADER | header, sample(definition, version, "empty"))


def _tagged(value: Json) -> Json:
    """Return JSON in which each struct has an unknown tag."""
    if isinstance(value, list):
        return [_tagged(element) for element in value]
    if isinstance(value, dict):
        return {key: _tagged(member) for key, member in value.items()} | {UNKNOWN_TAGS: TAGS[:1]}
    return value


def _line(frame: FrameCase, answer: dict[str, Json]) -> dict[str, Json]:
    definition, version = frame.case.definition, frame.case.version
    if "error" in answer:
        raise OracleError(f"Java rejected {definition.name} v{version} {frame.kind}: {answer['error']}")
    line: dict[str, Json] = {
        "api": answer["api"],
        "message": definition.name,
        "kind": definition.type,
        "version": version,
    }
    line |= {"header_version": answer["header_version"], "sample": frame.kind, "hex": answer["hex"]}
    return line | {"header": answer["header"], "body": answer["json"]}
