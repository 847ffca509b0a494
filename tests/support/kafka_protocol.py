"""Kafka 4.4.0's own table of APIs, error codes, and encoded requests and responses.

The named class of the released jars printed the bytes marked "Kafka 4.4.0".
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from kafka_messages.protocol import ApiKey, api

from tests.support.pages import ROOT
from tests.support.vectors import COMMITTED, RELEASE

KNOWN_KEYS = f"known keys are 0 to {max(ApiKey)}"
"""End of the error for an unknown key; independent of the release."""
FETCH = api("Fetch").supported_versions
FETCH_VERSIONS = f"versions {FETCH.lowest} to {FETCH.highest}"
"""Versions in error texts about Fetch; independent of the release."""

# Kafka 4.4.0, AbstractRequest.serializeWithHeader, client id "cli", topic "orders".
METADATA_REQUEST_12 = "0003000c0000004d0003636c69000200000000000000000000000000000000076f726465727300010000"
# Metadata request of librdkafka 2.16.0 for all topics, with three trailing bytes.
METADATA_REQUEST_13_TRAILING = "0003000d00000004000772646b61666b610000000000010000"
METADATA_REQUEST_1 = "000300010000004e0003636c690000000100066f7264657273"
API_VERSIONS_REQUEST_3 = "001200030000004f0003636c6900046c6962023100"
# The same with a null client id, and a tagged field 5 in a RequestHeaderData that Kafka does not know.
METADATA_REQUEST_12_TAGS = "0003000c00000050ffff01050201020200000000000000000000000000000000076f726465727300010000"
# Kafka 4.4.0, AbstractResponse.toSend, which writes the length too: Metadata v12 and v1, ApiVersions v4.
METADATA_RESPONSE_12 = "000000120000004d0000000000010263000000010100"
METADATA_RESPONSE_1 = "000000100000004e000000000000000100000000"
API_VERSIONS_RESPONSE_4 = "000000130000004f00000200030000000c000000000000"
# Kafka 4.4.0, ApiVersionsRequest.getErrorResponse(UnsupportedVersionException) at version 0, without a header.
UNSUPPORTED_VERSION_BODY = "002300000001001200000005"
# Kafka 4.4.0, MessageUtil.toByteBufferAccessor of an ApiVersionsResponseData with features, version 4.
FEATURES_BODY = (
    "00000200030000000c000000000103001702116d657461646174612e76657273696f6e0007001b0001080000000000000009"
    "021702116d657461646174612e76657273696f6e0019001900"
)


@cache
def oracle() -> list[dict[str, Any]]:
    """Return Kafka's own table of APIs."""
    path = COMMITTED / "apis.jsonl"
    if not path.exists():
        pytest.skip(
            f"there is no table of the APIs of Kafka {RELEASE}; nox -s upstream -- vectors writes it",
            allow_module_level=True,
        )
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def kafka_errors() -> list[dict[str, Any]]:
    """Return Kafka's own error codes."""
    errors: list[dict[str, Any]] = json.loads((ROOT / "specs/kafka/errors.json").read_text(encoding="utf-8"))
    return errors


def kafka_api(name: str) -> dict[str, Any]:
    """Return one row of Kafka's table."""
    return next(row for row in oracle() if row["name"] == name)
