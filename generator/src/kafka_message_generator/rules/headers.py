"""Header versions of requests and responses, and checks of RequestHeader and ResponseHeader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_message_generator.spec.model import HEADER, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.versions import MAX_VERSION, Versions

REQUEST_HEADER, RESPONSE_HEADER = "RequestHeader", "ResponseHeader"
API_VERSIONS_RESPONSE = "ApiVersionsResponse"
# Fields that the component ``protocol`` reads and writes
FIELDS = {
    REQUEST_HEADER: (
        ("RequestApiKey", "int16"),
        ("RequestApiVersion", "int16"),
        ("CorrelationId", "int32"),
        ("ClientId", "string"),
    ),
    RESPONSE_HEADER: (("CorrelationId", "int32"),),
}
_FIRST = 3  # number of fields of RequestHeader that are read before its version is known

HeaderVersions = tuple[tuple[int, int], ...]  # pairs of first body version and header version, ascending


def header_versions(message: Message) -> HeaderVersions:
    """Return the declared header versions, or else those that Kafka's generator derives."""
    if message.header_versions is not None:
        return tuple(sorted((Versions.parse(text).lowest, int(v)) for text, v in message.header_versions.items()))
    if message.name == API_VERSIONS_RESPONSE:
        # KIP-511: clients read this response before they know the broker's versions.
        return ((0, 0),)
    classic, flexible = (1, 2) if message.kind == REQUEST else (0, 1)
    start = message.flexible.lowest if not message.flexible.empty else MAX_VERSION + 1
    ranges = [(0, classic)] if start > 0 else []
    if message.name == "ControlledShutdownRequest" and start > 0:
        ranges = [(0, 0), (1, classic)]  # ControlledShutdown v0 has no client id
    return tuple(ranges + ([(start, flexible)] if start <= MAX_VERSION else []))


def has_headers(messages: Sequence[Message]) -> bool:
    return FIELDS.keys() <= {each.name for each in messages if each.kind == HEADER and not each.is_removed}


def check(messages: Sequence[Message], are_kafkas: bool, problems: Problems) -> None:
    """Check the required fields and versions of both headers.

    ``are_kafkas`` is true for the generator's copies of Kafka's headers.
    """
    for header in messages:
        if header.name in FIELDS and header.kind == HEADER and not header.is_removed:
            _fields(header, problems)
            _versions(header, messages, are_kafkas, problems)


def _fields(header: Message, problems: Problems) -> None:
    for index, (name, kind) in enumerate(FIELDS[header.name]):
        member = next((each for each in header.fields if each.name == name), None)
        if member is None or not member.is_typed or str(member.type) != kind:
            place = header.at("fields") if member is None else member.at("type")
            what = f"{header.name} needs a field {name} of type {kind}"
            problems.error(place, f"{what}, which every message header has")
        elif header.name == REQUEST_HEADER and index < _FIRST:
            is_there = member.tag is None and member.versions.covers(header.valid)
            if header.fields.index(member) != index or not is_there:
                what = f"{name} must be field {index + 1} of {header.name}, in all its versions and without a tag"
                problems.error(member.location, f"{what}: the field is read before the version of the header is known")


def _versions(header: Message, messages: Sequence[Message], are_kafkas: bool, problems: Problems) -> None:
    kind = REQUEST if header.name == REQUEST_HEADER else RESPONSE
    seen = set()
    for message in messages:
        if message.kind != kind or problems.has_error_at(message.places.get("headerVersions")):
            continue
        for version, bodies in _used(message):
            if version in header.valid:
                _flexible(header, version, message, bodies, problems)
            elif are_kafkas:
                what = f"Kafka's {header.name} has versions {header.valid}, not {version}"
                problems.error(
                    message.at("headerVersions"), f"{what}; declare another in headerVersions of {message.name}"
                )
            elif message.header_versions is not None:
                what = f"{header.name} has no version {version}, which {message.name} names for {bodies}"
                problems.error(message.at("headerVersions"), f"{what}; change it, or add the version to {header.name}")
            elif version not in seen:
                seen.add(version)
                what = f"{header.name} has no version {version}, which {message.name} needs"
                remedy = f"add it, or declare headerVersions in {message.name}"
                problems.error(header.at("validVersions"), f"{what}; {remedy}")


def _flexible(header: Message, version: int, message: Message, bodies: Versions, problems: Problems) -> None:
    flexible = bodies.intersect(message.flexible)
    if message.header_versions is None or message.name == API_VERSIONS_RESPONSE:
        return
    if not flexible.empty and version not in header.flexible:
        what = f"{message.name} is flexible in {flexible}, but {header.name} {version} is not"
        problems.error(message.at("headerVersions"), f"{what}; declare a flexible header for these versions")


def _used(message: Message) -> Iterator[tuple[int, Versions]]:
    """Yield each header version with the body versions that have it; a declared map counts beyond the valid versions."""
    pairs = header_versions(message)
    ends = [first - 1 for first, _ in pairs[1:]] + [MAX_VERSION]
    for (first, version), end in zip(pairs, ends, strict=True):
        bodies = Versions(first, end)
        if message.header_versions is None:
            bodies = bodies.intersect(message.valid)
        if not bodies.empty:
            yield version, bodies
