"""Judges of versions, headers and encodings. A judge yields what a client did wrong, with the exchange that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from kafka_messages.protocol import BrokerVersions, ErrorCode, decode_request
from kafka_messages_testkit import Exchange


@dataclass(frozen=True, slots=True)
class Violation:
    """What a client did wrong."""

    problem: str
    exchange: Exchange | None = None


Judge: TypeAlias = Callable[[Sequence[Exchange]], Iterator[Violation]]
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def named(exchange: Exchange) -> str:
    return f"{exchange.api.request_name} {exchange.version}"


def is_of(exchange: Exchange, *apis: str) -> bool:
    return exchange.api.name in apis


def sent_after(before: Exchange, exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Return those that a client sent after it had read a response: without the first, which may have been on its way."""
    answered = before.answered_at
    return [each for each in exchanges if answered is not None and each.received_at > answered][1:]


def by_connection(exchanges: Sequence[Exchange]) -> Iterator[list[Exchange]]:
    """Yield the exchanges of each connection."""
    for address in dict.fromkeys((each.client_address, each.node_id) for each in exchanges):
        yield [each for each in exchanges if (each.client_address, each.node_id) == address]


def versions_were_announced(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """Compare with the ranges of the connection, or of the broker until it closes a connection."""
    of_node: dict[int, BrokerVersions] = {}
    of_connection: dict[tuple[str, int], BrokerVersions] = {}
    for each in exchanges:
        if is_of(each, "ApiVersions"):
            if each.response is not None and each.response.error_code == ErrorCode.NONE:
                ranges = BrokerVersions.from_response(each.response)
                of_node[each.node_id] = of_connection[each.client_address] = ranges
            continue
        announced = of_connection.get(each.client_address) or of_node.get(each.node_id)
        key = each.api.key
        if announced is None:
            yield Violation(f"{named(each)} was sent before the versions of node {each.node_id} were known", each)
        elif not announced.supports(key, each.version):
            theirs = announced.versions.get(key)
            yield Violation(
                f"{named(each)} was sent, but node {each.node_id} announced {theirs or 'no versions'}", each
            )
        if each.outcome == "disconnect":
            of_node.pop(each.node_id, None)


def api_versions_is_repeated(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """After UNSUPPORTED_VERSION comes ApiVersions at a version that the response names, or 0 if it names none."""
    for connection in by_connection(exchanges):
        for before, after in pairwise(connection):
            if not (is_of(before, "ApiVersions") and before.response and before.response.error_code):
                continue
            keys = {each.api_key: each for each in before.response.api_keys}
            own = keys.get(before.api.key)
            lowest, highest = (own.min_version, own.max_version) if own else (0, 0)
            if not (is_of(after, "ApiVersions") and lowest <= after.version <= highest):
                expected = f"ApiVersionsRequest {lowest} to {highest}" if highest else "ApiVersionsRequest 0"
                yield Violation(f"{named(after)} follows UNSUPPORTED_VERSION; expected {expected}", after)
    yield from versions_were_announced(exchanges)


def software_is_named(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    for each in exchanges:
        if is_of(each, "ApiVersions") and each.version >= 3:
            for name in ("client_software_name", "client_software_version"):
                value = getattr(each.request, name)
                if not _SOFTWARE.fullmatch(value):
                    yield Violation(f"{named(each)}: {name} {value!r} does not match {_SOFTWARE.pattern}", each)


def requests_end_with_their_body(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """Another header version moves the body, so that it does not end with the frame."""
    for each in exchanges:
        if each.decoded.trailing:
            yield Violation(f"{named(each)} has {len(each.decoded.trailing)} bytes after its body", each)


def requests_are_canonical(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    for each in exchanges:
        data = each.request_data
        again = decode_request(data[4:], text="surrogateescape").encode(text="surrogateescape")
        if data != again:
            pairs = enumerate(zip(data[4:], again[4:], strict=False), 4)
            at = next((place for place, (theirs, ours) in pairs if theirs != ours), min(len(data), len(again)))
            ours, theirs = again[at : at + 8].hex(" "), data[at : at + 8].hex(" ")
            yield Violation(f"{named(each)}: byte {at} differs: Kafka writes {ours}, got {theirs}", each)


def correlation_ids_differ(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    for connection in by_connection(exchanges):
        for before, after in pairwise(connection):
            number = after.decoded.header.correlation_id
            if before.decoded.header.correlation_id == number:
                yield Violation(f"{named(after)} has the correlation id {number} of the request before it", after)


def throttled_client_waits(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """Look at Produce only; other requests may come from another part of the client."""
    for connection in by_connection([each for each in exchanges if is_of(each, "Produce")]):
        for before in connection:
            throttle = before.response.throttle_time_ms if before.response else 0
            for after in sent_after(before, connection)[:1] if throttle else ():
                waited = (after.received_at - (before.answered_at or 0)) * 1000
                if waited < 0.9 * throttle:
                    yield Violation(
                        f"{named(after)} was sent {waited:.0f} ms after throttle_time_ms {throttle}", before
                    )


def task_is_done(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """Accept all bytes: the command must end with status 0, and its task has a request that is needed."""
    yield from ()
