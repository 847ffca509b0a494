"""Handlers of all families, by request class."""

from __future__ import annotations

from typing import Any

from kafka_messages import Request, Response
from kafka_messages.connection import announce, error_response
from kafka_messages.protocol import ApiKey, ErrorCode, Versions, api

from . import (
    classic_handlers,
    consumer_handlers,
    coordinator,
    fetch,
    metadata,
    offset_handlers,
    produce,
    topic_admin,
    transaction_handlers,
)
from .cluster import Context, Handler
from .errors import RequestError

HANDLERS: dict[type[Request[Any]], Handler] = {
    **metadata.HANDLERS,
    **topic_admin.HANDLERS,
    **produce.HANDLERS,
    **fetch.HANDLERS,
    **coordinator.HANDLERS,
    **classic_handlers.HANDLERS,
    **consumer_handlers.HANDLERS,
    **offset_handlers.HANDLERS,
    **transaction_handlers.HANDLERS,
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
        [ApiKey.API_VERSIONS, *(api(each).key for each in HANDLERS)],
        release=release,
        only_present=release is not None,
        supported_features={name: Versions(1, level) for name, level in levels.items()},
        finalized_features={name: Versions(level, level) for name, level in levels.items()},
        finalized_features_epoch=1 if levels else -1,
    )


async def handle(context: Context, message: Any) -> Response | None:
    """Return the response to a request; an error response after RequestError."""
    request = context.received.request
    handler = HANDLERS.get(type(message))
    if handler is None:
        return error_response(request, ErrorCode.INVALID_REQUEST)
    try:
        return await handler(context, message)
    except RequestError as error:
        return error_response(request, error.code, error.message)
