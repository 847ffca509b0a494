"""Sample bytes of message versions, from test vectors and from recorded connections."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import REQUEST, RESPONSE
from kafka_protocol_pages.package import Explanation, Package, PagesError

MOST = 640
"""Preferred maximum size of a sample in bytes."""
CORRELATION_ID, CLIENT_ID = 7, "a-client"
"""Header values of frames that are built for a sample."""
REQUESTS, RESPONSES = ".request.bin", ".response.bin"
"""File name suffixes of the two directions of a connection."""
_ORIGIN = {True: "that a client sent to a broker.", False: "that a broker sent to a client."}


@dataclass(frozen=True)
class Sample:
    """The body of a message; ``origin`` is a clause such as ``that a client sent to a broker.``"""

    data: bytes
    origin: str
    is_opened: bool = False
    """True if the page shows record batches decoded."""
    frame: bytes = b""
    """Length, header and body as sent; empty for a body alone."""


Samples = Mapping[tuple[str, int], Sample]
"""Samples by message and version."""


@dataclass
class Best:
    """The best sample of each version: at most ``MOST`` bytes if possible, then most fields set, then shortest."""

    found: dict[tuple[str, int], tuple[tuple[bool, int, int], Sample]] = field(default_factory=dict)

    def add(self, key: tuple[str, int], sample: Sample, value: object) -> None:
        """Add a candidate for a message version; ``value`` is the sample in Kafka's JSON form."""
        rank = len(sample.data) > MOST, -len(_paths(value)), len(sample.data)
        if key not in self.found or rank < self.found[key][0]:
            self.found[key] = rank, sample

    def samples(self) -> Samples:
        return {key: sample for key, (_, sample) in self.found.items()}


# Folders of the vectors without messages: damaged bytes, frames, record batches, negotiations.
_OTHERS = ("negative", "frames", "batches", "negotiation")


def read_samples(folder: Path) -> Samples:
    """Return the best sample of each message version in a folder of test vectors. Raises PagesError."""
    best = Best()
    for path in sorted(folder.glob("**/*.jsonl.gz")):
        if path.parent.name in _OTHERS:
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    entry = json.loads(line)
                    origin = f"that Kafka's own classes wrote: the sample {entry['sample']} of the test vectors."
                    sample = Sample(bytes.fromhex(entry["hex"]), origin)
                    best.add((entry["message"], entry["version"]), sample, entry["json_out"])
                except (ValueError, KeyError, TypeError) as error:
                    what = "a JSON object with message, version, sample, hex and json_out"
                    raise PagesError(f"{path}:{number}: not a test vector, expected {what}") from error
    return best.samples()


def _paths(value: Any, above: str = "") -> set[str]:
    if isinstance(value, dict):
        return {path for key, each in value.items() for path in _paths(each, f"{above}.{key}")}
    if isinstance(value, list):
        return {path for each in value for path in _paths(each, above)}
    return {above} if value not in (None, "", 0, False) else set()


def read_traffic(folder: Path, package: Package) -> Samples:
    """Return the best sample of each message version in a folder of recorded connections.

    Empty if the package lacks the component ``protocol`` or ``json``. Raises PagesError if a message cannot be decoded.
    """
    best = Best()
    if not package.has("protocol") or not package.has("json"):
        return {}
    to_json = package.module("json").to_json
    for path in sorted(folder.glob(f"**/*{REQUESTS}")):
        for message, version, is_request, frame in _conversation(path, package.module("protocol")):
            whole = len(frame).to_bytes(4, "big") + frame
            sample = Sample(message.write(version), _ORIGIN[is_request], is_opened=True, frame=whole)
            best.add((message.NAME, version), sample, to_json(message, version))
    return best.samples()


def _conversation(path: Path, protocol: Any) -> Iterator[tuple[Any, int, bool, bytes]]:
    requests: dict[int, Any] = {}
    for number, frame in _frames(path, protocol):
        request = _read(path, number, protocol.decode_request, frame)
        requests[request.header.correlation_id] = request
        yield request.message, request.version, True, frame
    responses = path.with_name(path.name.removesuffix(REQUESTS) + RESPONSES)
    for number, frame in _frames(responses, protocol) if responses.exists() else ():
        request = requests.get(int.from_bytes(frame[:4], "big", signed=True))
        if request is not None:
            response = _read(responses, number, protocol.decode_response, frame, type(request.message), request.version)
            yield response.message, response.version, False, frame


def _frames(path: Path, protocol: Any) -> Iterator[tuple[int, bytes]]:
    return enumerate(_read(path, 0, protocol.split_frames, path.read_bytes()), 1)


def _read(path: Path, number: int, reader: Any, *arguments: Any) -> Any:
    try:
        return reader(*arguments)
    except ValueError as error:
        place = f"{path}: message {number}" if number else str(path)
        raise PagesError(f"{place}: cannot be decoded: {error}") from error


@dataclass(frozen=True)
class FramedSample:
    """The bytes of a sample; ``frame`` is empty for a body without a header."""

    name: str
    version: int
    is_request: bool
    body: bytes
    frame: bytes
    origin: str
    is_opened: bool

    def explained(self, package: Package) -> Explanation:
        """Explain each byte of the frame or body. Raises PagesError if the package cannot decode it."""
        if not self.frame:
            return package.explain(self.body, self.name, self.version, records=self.is_opened)
        if self.is_request:
            return package.explain_request(self.frame, records=self.is_opened)
        return package.explain_response(self.frame, self.name, self.version, records=self.is_opened)


def framed(package: Package, plan: MessagePlan, version: int, sample: Sample) -> FramedSample:
    """Add the captured frame of a sample, or for requests and responses a made-up one if the package has ``protocol``."""
    frame = sample.frame
    if not frame and plan.kind in (REQUEST, RESPONSE) and package.has("protocol"):
        frame = _frame(package, plan, version, sample.data)
    return FramedSample(plan.name, version, plan.kind == REQUEST, sample.data, frame, sample.origin, sample.is_opened)


def _frame(package: Package, plan: MessagePlan, version: int, body: bytes) -> bytes:
    protocol = package.module("protocol")
    api = protocol.api(package.message(plan.name))
    if plan.kind == REQUEST:
        header_version = api.request_header_version(version)
        values = {"request_api_key": api.key, "request_api_version": version, "client_id": CLIENT_ID}
    else:
        header_version, values = api.response_header_version(version), {}
    header = package.message("RequestHeader" if plan.kind == REQUEST else "ResponseHeader")
    frame: bytes = protocol.frame(header(correlation_id=CORRELATION_ID, **values).write(header_version) + body)
    return frame
