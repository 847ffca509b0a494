"""Members of classic groups that a test drives request by request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from kafka_messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    Request,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka_messages.aio import BrokerConnection
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster

from tests.support.testkit_broker import client

GROUP = "billing"


class Consumer:
    """A client with one connection, and its member of a group."""

    def __init__(self, cluster: KafkaCluster, connection: BrokerConnection, name: str, instance_id: str | None) -> None:
        self.cluster, self.connection, self.name, self.instance_id = cluster, connection, name, instance_id
        self.member_id, self.generation = "", -1
        self.protocols = [("range", b"of " + name.encode())]
        self.session_ms = self.rebalance_ms = 10_000

    async def join(self, version: int | None = None, **changes: Any) -> JoinGroupResponse:
        """Send one JoinGroup request; keep the member id and the generation."""
        kind = JoinGroupRequest.JoinGroupRequestProtocol
        fields: dict[str, Any] = {
            "group_id": GROUP,
            "session_timeout_ms": self.session_ms,
            "rebalance_timeout_ms": self.rebalance_ms,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
            "protocol_type": "consumer",
            "protocols": [kind(name=name, metadata=metadata) for name, metadata in self.protocols],
        }
        response = await self.connection.request(JoinGroupRequest(**(fields | changes)), version)
        self.member_id = response.member_id
        self.generation = response.generation_id
        return response

    async def enter(self, **changes: Any) -> JoinGroupResponse:
        """Join, with the member id of MEMBER_ID_REQUIRED."""
        response = await self.join(**changes)
        return await self.join(**changes) if response.error_code == ErrorCode.MEMBER_ID_REQUIRED else response

    async def begin_join(self) -> asyncio.Task[JoinGroupResponse]:
        """Send the JoinGroup request that waits for the other members."""
        if self.instance_id is None and not self.member_id:
            await self.join()
        return await self.begin(JoinGroupRequest, self.join())

    async def sync(self, *assignments: tuple[Consumer, bytes], **changes: Any) -> SyncGroupResponse:
        kind = SyncGroupRequest.SyncGroupRequestAssignment
        given = [kind(member_id=each.member_id, assignment=assignment) for each, assignment in assignments]
        fields = {"protocol_type": "consumer", "protocol_name": "range", "assignments": given}
        return await self.connection.request(SyncGroupRequest(**(self.identity() | fields | changes)))

    async def heartbeat(self, **changes: Any) -> ErrorCode:
        response = await self.connection.request(HeartbeatRequest(**(self.identity() | changes)))
        return ErrorCode(response.error_code)

    async def leave(self) -> LeaveGroupResponse:
        member = LeaveGroupRequest.MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        return await self.connection.request(LeaveGroupRequest(group_id=GROUP, members=[member]))

    def identity(self) -> dict[str, Any]:
        return {
            "group_id": GROUP,
            "generation_id": self.generation,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
        }

    async def begin(self, request: type[Request[Any]], coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a coroutine and wait until the cluster has received its request."""
        seen = self.cluster.on(request, client_id=self.name).observe()
        task = asyncio.create_task(coroutine)
        await seen.wait_async()
        seen.remove()
        return task


class Scene:
    """Connects consumers to a cluster."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self.cluster = cluster
        self.connections: list[BrokerConnection] = []

    async def consumer(self, name: str, instance_id: str | None = None) -> Consumer:
        state = self.cluster._state
        address = f"127.0.0.1:{state.nodes[state.coordinator(GROUP)].port}"
        connection = await client(address, connection=ClientConnection(client_id=name))
        self.connections.append(connection)
        return Consumer(self.cluster, connection, name, instance_id)

    async def stable(self, *consumers: Consumer) -> None:
        """Bring new consumers into one stable generation, the second; the first consumer is the leader."""
        leader, *others = consumers
        await leader.enter()
        await asyncio.gather(*[await each.begin_join() for each in others], leader.join())
        await self.assigned(*consumers)

    async def until(self, predicate: Callable[[Any], object]) -> None:
        """Wait until a function returns a true value for the classic group in the cluster."""
        groups = self.cluster._state.groups

        def is_reached() -> object:
            return GROUP in groups and predicate(groups[GROUP])

        async with asyncio.timeout(5):
            while not self.cluster._started().call(is_reached):
                await asyncio.sleep(0.001)

    def inside(self, function: Callable[[Any], Any]) -> Any:
        """Call a function with the classic group in the cluster."""
        return self.cluster._started().call(lambda: function(self.cluster._state.groups[GROUP]))

    async def assigned(self, *consumers: Consumer) -> list[SyncGroupResponse]:
        """Send all SyncGroup requests; the assignment is the name of each consumer."""
        leader, *others = consumers
        syncs = [await each.begin(SyncGroupRequest, each.sync()) for each in others]
        last = await leader.sync(*((each, each.name.encode()) for each in consumers))
        return [last, *await asyncio.gather(*syncs)]


def played(play: Callable[[Scene], Awaitable[None]], **options: Any) -> KafkaCluster:
    """Run a play with a new cluster, and return the stopped cluster with its exchanges."""

    async def run(cluster: KafkaCluster) -> None:
        scene = Scene(cluster)
        try:
            await play(scene)
        finally:
            for each in scene.connections:
                await each.close()

    with KafkaCluster(**options) as cluster:
        asyncio.run(run(cluster))
    return cluster
