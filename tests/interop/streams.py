"""A member of a streams group (KIP-1071) that joins, gets its tasks and leaves."""

from __future__ import annotations

import time
from uuid import uuid4

from kafka_messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from kafka_messages.messages.streams_group_heartbeat_request import Subtopology, Topology
from kafka_messages.protocol import ErrorCode

from .kafka import InteropError
from .wire import Connection, accept

SECONDS = 30
LEAVES = -1
"""Member epoch with which a member leaves."""
WAITED_FOR = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def stream(port: int, group: str, topic: str) -> None:
    """Join with one subtopology that reads ``topic``, wait for tasks, and leave."""
    member, deadline = str(uuid4()), time.monotonic() + SECONDS
    topology = Topology(epoch=0, subtopologies=[Subtopology(subtopology_id="0", source_topics=[topic])])
    with Connection(port) as broker:
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
        epoch, owned = 0, 0
        while not owned:
            if time.monotonic() > deadline:
                raise InteropError(f"the streams group {group} got no task within {SECONDS} seconds")
            broker.ask(find, 4, FindCoordinatorResponse)
            joins = StreamsGroupHeartbeatRequest(
                group_id=group,
                member_id=member,
                member_epoch=epoch,
                rebalance_timeout_ms=10_000,
                topology=topology if not epoch else None,
                active_tasks=[],
                standby_tasks=[],
                warmup_tasks=[],
                process_id="process",
                client_tags=[],
            )
            answer = broker.ask(joins, 0, StreamsGroupHeartbeatResponse)
            if answer.error_code not in WAITED_FOR:
                accept(joins, answer.error_code)
                epoch = answer.member_epoch
                owned = sum(len(each.partitions) for each in answer.active_tasks or ())
            time.sleep(0.2)
        leaves = StreamsGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=LEAVES)
        accept(leaves, broker.ask(leaves, 0, StreamsGroupHeartbeatResponse).error_code)
