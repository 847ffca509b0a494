"""Handlers of all families, by API."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from kafka_messages import Request, Response
from kafka_messages.connection import announce, error_response
from kafka_messages.protocol import ApiKey, ErrorCode, Versions, api

from ..state.cluster import Context, Handler
from ..state.errors import RequestError

FAMILIES = {
    "metadata": ("Metadata", "DescribeTopicPartitions", "DescribeCluster"),
    "topic_admin": ("CreateTopics", "DeleteTopics"),
    "produce": ("Produce",),
    "fetch": ("Fetch", "ListOffsets", "OffsetForLeaderEpoch"),
    "coordinator": ("FindCoordinator",),
    "classic_groups": ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "DescribeGroups", "ListGroups"),
    "consumer_groups": ("ConsumerGroupHeartbeat",),
    "committed_offsets": ("OffsetCommit", "OffsetFetch"),
    "transactions": ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"),
}
"""APIs by module, which a cluster imports when it starts, because message classes take most of the import time."""

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""Valid names and versions of clients (KIP-511)."""


@cache
def handlers() -> dict[type[Request[Any]], Handler]:
    """Return the handlers by request: the functions with the names of the APIs, in snake case. Import their modules."""
    return {
        api(name).request_class: getattr(import_module(f".{module}", __package__), _CAPITAL.sub("_", name).lower())
        for module, names in FAMILIES.items()
        for name in names
    }


def feature_levels(release: str | None) -> dict[str, int]:
    """Return the features that a new cluster of a release finalizes, and that producers and consumers look at."""
    if release is not None and release.partition(".")[0] in ("0", "1", "2", "3"):
        return {}
    return {"group.version": 1, "transaction.version": 2}


def announced(release: str | None) -> Any:
    """Return the ApiVersionsResponse of the cluster. Raises ValueError for an unknown release."""
    levels = feature_levels(release)
    return announce(
        [ApiKey.API_VERSIONS, *(api(name).key for names in FAMILIES.values() for name in names)],
        release=release,
        only_present=release is not None,
        supported_features={name: Versions(0, level) for name, level in levels.items()},
        finalized_features={name: Versions(level, level) for name, level in levels.items()},
        finalized_features_epoch=1 if levels else -1,
    )


async def handle(context: Context, message: Any, announced: Any) -> Response | None:
    """Return the response to a request; an error response after RequestError.

    ``announced`` answers valid ApiVersions requests; at an unknown version only their own range (KIP-511).
    """
    request = context.received.request
    if request.api.key == ApiKey.API_VERSIONS:
        version = context.received.response_version
        names = message.client_software_name, message.client_software_version
        if version >= 3 and not all(map(_SOFTWARE.fullmatch, names)):
            return error_response(request, ErrorCode.INVALID_REQUEST)
        if not context.received.is_supported:
            [key] = (each for each in announced.api_keys if each.api_key == ApiKey.API_VERSIONS)
            refusal: Response = type(announced)(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[key])
            return refusal
        features = announced.supported_features if version >= 4 else []  # older versions have none from level 0 on
        response: Response = replace(announced, supported_features=features)
        return response
    handler = handlers().get(request.api.request_class)
    if handler is None:
        return error_response(request, ErrorCode.INVALID_REQUEST)
    try:
        return await handler(context, message)
    except RequestError as error:
        return error_response(request, error.code, error.message)
