"""Groups of the cluster, for tests."""

from __future__ import annotations

import asyncio

from ._loop import INTERVAL, LoopThread
from .state.errors import RequestError
from .state.groups import AnyGroup, GroupMember, Groups


class Group:
    """A group of consumers; it need not exist yet."""

    def __init__(self, id: str, groups: Groups, thread: LoopThread) -> None:
        self._id, self._groups, self._thread = id, groups, thread

    @property
    def id(self) -> str:
        return self._id

    @property
    def state(self) -> str:
        """Kafka's name of the state, such as ``Stable`` or ``PreparingRebalance``; ``Dead`` for an unknown group."""
        return self._thread.call(lambda: str(group.state) if (group := self._groups.get(self._id)) else "Dead")

    @property
    def members(self) -> list[GroupMember]:
        """Members with the partitions that they have."""
        return self._thread.call(lambda: group.members if (group := self._groups.get(self._id)) else [])

    def rebalance(self) -> None:
        """Start a rebalance, as if a member had joined. Raises ValueError for an unknown group."""
        self._thread.call(lambda: self._known().rebalance())

    def expire(self, member: GroupMember | str) -> None:
        """Remove a member, as after its session timeout; a member id or instance id will do.

        Raises ValueError for an unknown group or member.
        """
        self._thread.call(self._expire, member)

    def wait_stable(self, members: int, timeout: float = 10) -> None:
        """Wait until the group has ``members`` members, and each has its assignment.

        ``timeout`` is in seconds. Raises TimeoutError.
        """
        self._thread.run(self._until_stable(members, timeout), timeout + 5)

    async def wait_stable_async(self, members: int, timeout: float = 10) -> None:
        """Like ``wait_stable``, in a coroutine, so that members in the same event loop can go on."""
        await asyncio.wrap_future(self._thread.submit(self._until_stable(members, timeout)))

    async def _until_stable(self, members: int, timeout: float) -> None:
        try:
            async with asyncio.timeout(timeout):
                while not self._is_stable(members):
                    await asyncio.sleep(INTERVAL)
        except TimeoutError:
            raise TimeoutError(
                f"group {self._id!r} does not have {members} stable members after {timeout:g} s; "
                f"it is {self.state} and has {len(self.members)}"
            ) from None

    def _is_stable(self, members: int) -> bool:
        group = self._groups.get(self._id)
        return members == 0 if group is None else group.is_stable and len(group.members) == members

    def _known(self) -> AnyGroup:
        if self._id not in self._groups:
            raise ValueError(f"there is no group {self._id!r}; wait for its members with wait_stable()")
        return self._groups[self._id]

    def _expire(self, member: GroupMember | str) -> None:
        group = self._known()
        wanted = member.member_id if isinstance(member, GroupMember) else member
        ids = [each.member_id for each in group.members if wanted in (each.member_id, each.instance_id)]
        try:
            group.expire(ids[0] if ids else wanted)
        except RequestError:
            raise ValueError(f"group {self._id!r} has no member {wanted!r}") from None

    def __repr__(self) -> str:
        return f"<Group {self._id!r}>"
