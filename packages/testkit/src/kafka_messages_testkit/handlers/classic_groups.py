"""Classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups."""

from __future__ import annotations

import asyncio

from kafka_messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    Response,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka_messages.enums import AclOperation, GroupState
from kafka_messages.protocol import ErrorCode

from ..state.classic_group import ClassicGroup, ClassicMember, names_and_metadata
from ..state.cluster import Context
from ..state.errors import RequestError, failures

MOST_SESSION_MS = 1_800_000
"""Default of ``group.max.session.timeout.ms``. There is no minimum, so that tests can use short sessions."""
_OPERATIONS = (
    AclOperation.READ,
    AclOperation.DELETE,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
)


def _check(context: Context, group_id: str) -> None:
    if not group_id:
        raise RequestError(ErrorCode.INVALID_GROUP_ID)
    context.check_coordinator(group_id)


def _existing(context: Context, group_id: str) -> ClassicGroup:
    """Return a classic group. Raises RequestError."""
    _check(context, group_id)
    group = context.cluster.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID)
    return group


async def join_group(context: Context, request: JoinGroupRequest) -> Response:
    """Answer as ``GroupMetadataManager.classicGroupJoin``, once all members have joined."""
    response = JoinGroupResponse(member_id=request.member_id, protocol_name=None)
    with failures(response):
        _check(context, request.group_id)
        if not 0 < request.session_timeout_ms <= MOST_SESSION_MS:
            raise RequestError(ErrorCode.INVALID_SESSION_TIMEOUT)
        group = _joined_group(context, request)
        if not group.supports(request.protocol_type, names_and_metadata(request)):
            raise RequestError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if not request.member_id:
            response = await _join_new(context, group, request)
        elif request.member_id in group.pending:
            if request.group_instance_id is not None:  # a static member gets no id in advance
                response.member_id = ""
                raise RequestError(ErrorCode.UNKNOWN_SERVER_ERROR)
            response = await _add(context, group, request, request.member_id)
        else:
            group.check_member(request.member_id, request.group_instance_id)
            response = await _rejoin(group, group.by_id[request.member_id], request)
    return response


def _joined_group(context: Context, request: JoinGroupRequest) -> ClassicGroup:
    group = context.cluster.groups.get(request.group_id)
    if isinstance(group, ClassicGroup):
        return group
    if group is not None and group.state != GroupState.EMPTY:
        raise RequestError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if request.member_id:
        raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID)
    return context.cluster.create_group(request.group_id)


async def _join_new(context: Context, group: ClassicGroup, request: JoinGroupRequest) -> JoinGroupResponse:
    instance_id = request.group_instance_id
    member_id = f"{context.client_id if instance_id is None else instance_id}-{context.cluster.groups.new_id()}"
    if instance_id is not None and instance_id in group.static:
        return await _replace(context, group, request, member_id)
    if instance_id is None and context.version >= 4:  # KIP-394
        group.add_pending(member_id, request.session_timeout_ms / 1000)
        code = ErrorCode.MEMBER_ID_REQUIRED
        return JoinGroupResponse(error_code=code, member_id=member_id, protocol_name=None)
    return await _add(context, group, request, member_id)


async def _add(context: Context, group: ClassicGroup, request: JoinGroupRequest, member_id: str) -> JoinGroupResponse:
    member = ClassicMember(member_id, request.group_instance_id, context.client_id, context.client_host)
    answered = member.update(request)
    group.add(member, request.protocol_type)
    return await answered


async def _replace(
    context: Context, group: ClassicGroup, request: JoinGroupRequest, member_id: str
) -> JoinGroupResponse:
    """Let a restarted static member take over (KIP-345), without a rebalance if nothing else changes."""
    member = group.by_id[group.static[request.group_instance_id or ""]]
    old_leader = group.leader
    group.replace(member, member_id)
    answered = member.update(request)
    if group.state == GroupState.STABLE and group.voted() == group.protocol:
        response = group.joined(member_id)
        if context.version >= 9:  # KIP-814
            response.skip_assignment = bool(response.members)
        else:
            response.members, response.leader = [], old_leader or ""
        member.end_join(response)
    elif group.state == GroupState.COMPLETING_REBALANCE:
        group.prepare()
    else:
        group.rebalance_or_complete()
    return await answered


async def _rejoin(group: ClassicGroup, member: ClassicMember, request: JoinGroupRequest) -> JoinGroupResponse:
    is_same = member.protocols == names_and_metadata(request)
    is_retry = group.state == GroupState.COMPLETING_REBALANCE and is_same
    is_follower = group.state == GroupState.STABLE and is_same and member.id != group.leader
    if is_retry or is_follower:
        return group.joined(member.id)
    answered = member.update(request)
    group.rebalance_or_complete()
    return await answered


async def sync_group(context: Context, request: SyncGroupRequest) -> Response:
    """Answer as ``GroupMetadataManager.classicGroupSync``, once the leader has sent the assignment."""
    protocol = request.protocol_type, request.protocol_name
    if context.version >= 5 and None in protocol:
        raise RequestError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = _existing(context, request.group_id)
    group.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise RequestError(ErrorCode.ILLEGAL_GENERATION)
    if context.version >= 5 and group.protocol is not None and protocol != (group.protocol_type, group.protocol):
        raise RequestError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if group.state == GroupState.PREPARING_REBALANCE:
        raise RequestError(ErrorCode.REBALANCE_IN_PROGRESS)
    member = group.by_id[request.member_id]
    group.mark_synced(member.id)
    if group.state == GroupState.STABLE:
        return group.synced(member)
    answered: asyncio.Future[SyncGroupResponse] = asyncio.get_running_loop().create_future()
    member.syncing = answered
    if member.id == group.leader:
        group.assign({each.member_id: bytes(each.assignment) for each in request.assignments})
    return await answered


async def heartbeat(context: Context, request: HeartbeatRequest) -> Response:
    """Answer as ``GroupMetadataManager.classicGroupHeartbeat``."""
    group = _existing(context, request.group_id)
    group.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise RequestError(ErrorCode.ILLEGAL_GENERATION)
    group.extend(group.by_id[request.member_id])
    if group.state == GroupState.PREPARING_REBALANCE:
        raise RequestError(ErrorCode.REBALANCE_IN_PROGRESS)
    return HeartbeatResponse()


async def leave_group(context: Context, request: LeaveGroupRequest) -> Response:
    """Answer as ``GroupMetadataManager.classicGroupLeave``."""
    _check(context, request.group_id)
    group = context.cluster.groups.get(request.group_id)
    kind = LeaveGroupRequest.MemberIdentity
    response = LeaveGroupResponse()
    for member in request.members if context.version >= 3 else [kind(member_id=request.member_id)]:
        left = LeaveGroupResponse.MemberResponse(member_id=member.member_id, group_instance_id=member.group_instance_id)
        response.members.append(left)
        with failures(left):
            if not isinstance(group, ClassicGroup):
                raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID)
            _leave(group, member)
    is_changed = any(not left.error_code for left in response.members)
    if is_changed and isinstance(group, ClassicGroup) and group.state != GroupState.EMPTY:
        group.rebalance_or_complete()
    if context.version < 3:
        response.error_code = response.members[0].error_code
    return response


def _leave(group: ClassicGroup, member: LeaveGroupRequest.MemberIdentity) -> None:
    member_id = member.member_id
    if not member_id:  # administrative removal by instance id
        member_id = group.static.get(member.group_instance_id or "", "")
    if member_id not in group.pending:
        group.check_member(member_id, member.group_instance_id)
    group.drop(member_id)


async def describe_groups(context: Context, request: DescribeGroupsRequest) -> Response:
    """Answer as ``GroupMetadataManager.describeGroups``."""
    response = DescribeGroupsResponse()
    for group_id in request.groups:
        part = DescribeGroupsResponse.DescribedGroup(group_id=group_id)
        response.groups.append(part)
        with failures(part):
            context.check_coordinator(group_id)
            group = context.cluster.groups.get(group_id)
            if isinstance(group, ClassicGroup):
                _describe(group, part)
            else:
                part.group_state = GroupState.DEAD
                if context.version >= 6:  # KIP-1043
                    part.error_code = ErrorCode.GROUP_ID_NOT_FOUND
                    what = "not found" if group is None else "not a classic group"
                    part.error_message = f"Group {group_id[:100]} {'is ' if group else ''}{what}."
            if request.include_authorized_operations and not part.error_code:
                part.authorized_operations = sum(1 << operation for operation in _OPERATIONS)
    return response


def _describe(group: ClassicGroup, part: DescribeGroupsResponse.DescribedGroup) -> None:
    is_stable = group.state == GroupState.STABLE
    part.group_state, part.protocol_type = group.state, group.protocol_type
    part.protocol_data = (group.protocol if is_stable else None) or ""
    part.members = [
        DescribeGroupsResponse.DescribedGroupMember(
            member_id=member.id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.metadata(group.protocol) if is_stable else b"",
            member_assignment=member.assignment,
        )
        for member in group.by_id.values()
    ]


async def list_groups(context: Context, request: ListGroupsRequest) -> Response:
    """Answer as ``GroupMetadataManager.listGroups``: all groups that this broker coordinates."""
    states = {each.lower().strip() for each in request.states_filter}
    types = {each.lower() for each in request.types_filter}
    kind = ListGroupsResponse.ListedGroup
    groups = [
        kind(group_id=group.id, protocol_type=group.protocol_type, group_state=group.state, group_type=group.type)
        for group in context.cluster.groups.values()
        if context.cluster.coordinator(group.id) == context.node_id
        and (not states or group.state.lower() in states)
        and (not types or group.type in types)
    ]
    return ListGroupsResponse(groups=groups)
