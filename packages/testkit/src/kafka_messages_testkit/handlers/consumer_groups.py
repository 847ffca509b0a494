"""ConsumerGroupHeartbeat, the one request of members of consumer groups (KIP-848)."""

from __future__ import annotations

from kafka_messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, Response
from kafka_messages.enums import GroupState
from kafka_messages.protocol import ErrorCode

from ..state.cluster import Context
from ..state.consumer_assignor import ASSIGNORS
from ..state.consumer_group import ConsumerGroup
from ..state.consumer_member import LEFT
from ..state.errors import RequestError


async def consumer_group_heartbeat(context: Context, request: ConsumerGroupHeartbeatRequest) -> Response:
    """Answer as ``GroupCoordinatorService.consumerGroupHeartbeat``."""
    _check(request, context.version)
    context.check_coordinator(request.group_id)
    group = _find(context, request)
    if request.member_epoch < 0:
        group.leave(request.member_id, request.instance_id, request.member_epoch)
        return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    response = group.heartbeat(request, context.client_id, context.client_host)
    context.cluster.groups[request.group_id] = group
    return response


def _find(context: Context, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroup:
    """Return a group. A member that joins gets a new one, also instead of a classic group without members."""
    id, epoch, groups = request.group_id, request.member_epoch, context.cluster.groups
    group = groups.get(id)
    if isinstance(group, ConsumerGroup):
        return group
    if epoch == 0 and (group is None or group.state == GroupState.EMPTY):
        return ConsumerGroup(id, groups, context.cluster.topics)
    text = (
        f"Group {id} is not a consumer group."
        if group is not None
        else f"{'Consumer g' if epoch > 0 else 'G'}roup {id} not found."
    )
    raise RequestError(ErrorCode.GROUP_ID_NOT_FOUND, text)


def _check(request: ConsumerGroupHeartbeatRequest, version: int) -> None:
    """Raise RequestError for an invalid request."""
    epoch = request.member_epoch
    is_empty = {
        "MemberId": (version > 0 or epoch not in (0, LEFT)) and not request.member_id.strip(),
        "GroupId": not request.group_id.strip(),
        "InstanceId": request.instance_id is not None and not request.instance_id.strip(),
        "RackId": request.rack_id is not None and not request.rack_id.strip(),
    }
    for name, is_wrong in is_empty.items():
        _require(not is_wrong, f"{name} can't be empty.")
    if epoch == 0:
        _require(request.rebalance_timeout_ms != -1, "RebalanceTimeoutMs must be provided in first request.")
        _require(request.topic_partitions == [], "TopicPartitions must be empty when (re-)joining.")
        _require(
            request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        )
    _require(epoch != LEFT or request.instance_id is not None, "InstanceId can't be null.")
    _require(epoch >= LEFT, "MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in ASSIGNORS:
        raise RequestError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(ASSIGNORS)}.",
        )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise RequestError(ErrorCode.INVALID_REQUEST, message)
