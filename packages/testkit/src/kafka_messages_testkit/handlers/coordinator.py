"""FindCoordinator."""

from __future__ import annotations

from kafka_messages import FindCoordinatorRequest, FindCoordinatorResponse, Response
from kafka_messages.enums import CoordinatorType
from kafka_messages.protocol import ErrorCode

from ..state.cluster import HOST, Context
from ..state.errors import RequestError, failures

_KNOWN = (CoordinatorType.GROUP, CoordinatorType.TRANSACTION)


async def find_coordinator(context: Context, request: FindCoordinatorRequest) -> Response:
    """Answer as ``KafkaApis.handleFindCoordinatorRequest``. There are no share groups."""
    keys = request.coordinator_keys if context.version >= 4 else [request.key]
    found = []
    for key in keys:
        part = FindCoordinatorResponse.Coordinator(key=key, node_id=-1, port=-1)
        found.append(part)
        with failures(part):
            node_id = context.cluster.coordinator(key)
            if request.key_type not in _KNOWN:
                raise RequestError(ErrorCode.INVALID_REQUEST)
            if node_id < 0:
                raise RequestError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            part.node_id, part.host, part.port = node_id, HOST, context.cluster.nodes[node_id].port
    if context.version >= 4:
        return FindCoordinatorResponse(coordinators=found)
    part = found[0]
    if part.error_code:
        raise RequestError(ErrorCode(part.error_code))
    return FindCoordinatorResponse(
        error_message=ErrorCode.NONE.name, node_id=part.node_id, host=part.host, port=part.port
    )
