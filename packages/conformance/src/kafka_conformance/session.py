"""Connections, variables and exchanges of one case."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any
from uuid import uuid4

from kafka_messages import Message
from kafka_messages.connection import endpoints, error_codes, expects_response
from kafka_messages.errors import KafkaMessageError
from kafka_messages.json import from_json, to_json, uuid_text
from kafka_messages.protocol import ErrorCode, api, decode_response, encode_request
from kafka_messages.schema import descriptor_of

from .broker_case import ReadAs, Send, Versions
from .cluster import BY_ANY, CLIENT_ID, ROUTES, Address, Cluster
from .pattern import Variables, fitted, now, replaced
from .result import SentBytes
from .wire import CaseFailure, Deadline, FrameSocket

_LONGEST_SHOWN = 1 << 16  # bytes of a frame in the report
_SETUP = "setup"
_RETRY_SECONDS = 0.1


class NotRun(Exception):
    """The case does not apply to this broker; the text is the reason."""


@dataclass(frozen=True, slots=True)
class BrokerAnswer:
    """A decoded response."""

    message: Message
    version: int

    @property
    def json(self) -> dict[str, Any]:
        return to_json(self.message, self.version)

    @property
    def codes(self) -> set[int]:
        """All error codes, NONE included."""
        return {int(each.code) for each in error_codes(self.message, version=self.version)}


@dataclass(frozen=True, slots=True)
class Pending:
    """A request without response so far."""

    wire: FrameSocket
    read_as: ReadAs
    correlation_id: int
    data: bytes


class CaseSession:
    """What one case sends and receives. Each case has connections of its own."""

    def __init__(self, cluster: Cluster, prefix: str, deadline: Deadline) -> None:
        self.cluster, self.deadline = cluster, deadline
        self.variables: Variables = {
            "prefix": prefix,
            "topic": f"{prefix}-t",
            "group": f"{prefix}-g",
            "transactionalId": f"{prefix}-x",
            "unknownTopicId": uuid_text(uuid4()),
            "now": now(),
        }
        self.sent: list[SentBytes] = []
        self.foreign: list[str] = [] if prefix else cluster.foreign
        """Addresses in responses that are not expected, with their places."""
        self.is_answered = False
        self.routes: dict[str, Address] = {}
        """Addresses of the leader and the coordinators, once they are known."""
        self._wires: dict[tuple[str, Address], FrameSocket] = {}
        self._last: dict[str, FrameSocket] = {}
        self._pending: dict[str, deque[Pending]] = {}
        self._ids = count(1)

    def wire(self, name: str, api_name: str = BY_ANY) -> FrameSocket:
        """Return the connection of a name to the broker that serves an API; the last one, if any broker does."""
        route = name if name.startswith("$") else ROUTES.get(api_name, BY_ANY)
        if route == BY_ANY and name in self._last:
            return self._last[name]
        address = self._address(route)
        if (name, address) not in self._wires:
            self._wires[name, address] = FrameSocket(address, self.deadline)
        self._last[name] = self._wires[name, address]
        return self._last[name]

    def _address(self, route: str) -> Address:
        brokers, leader = self.cluster.brokers, self.routes.get("leader")
        if route == "$leader":
            return leader or self.cluster.address
        if len(brokers) < 2:
            if route == "$notLeader":
                raise NotRun("needs a second broker")
            return self.cluster.address
        if route == "$notLeader":
            return next(each for each in brokers.values() if each != leader)
        return (self.cluster.controller if route == "controller" else self.routes.get(route)) or self.cluster.address

    def version(self, name: str, wanted: Versions) -> int:
        """Return the version to use. Raises NotRun if the broker does not announce it."""
        lowest, highest = (wanted, wanted) if isinstance(wanted, int) else wanted
        least, most = self.cluster.versions.get(api(name).key, (0, -1))
        chosen = min(highest, most)
        if chosen < max(lowest, least):
            has = f"{least} to {most}" if most >= 0 else "none"
            raise NotRun(f"needs {name} {lowest if lowest == highest else f'{lowest} to {highest}'}; announced: {has}")
        return chosen

    def send(self, send: Send) -> None:
        """Send a request; ``receive`` returns the response. Raises NotRun and NoResponse."""
        waiting = self._waiting(send.connection)
        if send.raw is not None:
            wire, data = self.wire(send.connection), bytes.fromhex(send.raw)
            wire.send(data, send.pieces)
            read_as = send.read_as or ReadAs(api="ApiVersions", version=0)
            waiting.append(Pending(wire, read_as, send.correlation_id or 0, data))
            return
        version, cls = self.version(send.api, send.version), api(send.api).request_class
        content = fitted(replaced(send.message, self.variables), descriptor_of(cls).fields, version)
        message = from_json(cls, content, version, default_missing=True)
        number = next(self._ids) if send.correlation_id is None else send.correlation_id
        data = encode_request(message, version, number, CLIENT_ID)
        wire = self.wire(send.connection, send.api)
        wire.send(data)
        if expects_response(message):
            waiting.append(Pending(wire, ReadAs(api=send.api, version=version), number, data))
        else:
            self.sent.append(SentBytes(data.hex()))

    def _waiting(self, name: str) -> deque[Pending]:
        return self._pending.setdefault(name, deque())

    def receive(self, name: str = "a") -> BrokerAnswer:
        """Return the response to the oldest request without one. Raises CaseFailure."""
        if not (waiting := self._waiting(name)):
            raise CaseFailure("no request waits for a response")
        pending = waiting.popleft()
        return self._decoded(pending, self._frame(pending))

    def _frame(self, pending: Pending) -> bytes:
        frame = b""
        try:
            frame = pending.wire.receive()
            self.is_answered = True
        finally:
            shown = b"" if "DelegationToken" in pending.read_as.api else frame  # it has the HMAC of the token
            self.sent.append(SentBytes(pending.data[:_LONGEST_SHOWN].hex(), shown[:_LONGEST_SHOWN].hex()))
        return frame

    def expect_end(self, name: str) -> None:
        """Wait until the broker closes a connection. Raises CaseFailure if it does not, or ConnectionEnded."""
        waiting = self._waiting(name)
        nothing = Pending(self.wire(name), ReadAs(api="", version=0), 0, b"")
        frame = self._frame(waiting.popleft() if waiting else nothing)
        raise CaseFailure(f"expected the end of the connection, got {frame[:32].hex()}")

    def _decoded(self, pending: Pending, frame: bytes) -> BrokerAnswer:
        which, payload = pending.read_as, frame[4:]
        old = which.fallback and payload[4:6] == ErrorCode.UNSUPPORTED_VERSION.to_bytes(2)
        version = 0 if old else which.version
        try:
            found = decode_response(payload, which.api, version)
        except KafkaMessageError as error:
            raise CaseFailure(f"the response cannot be read as {which.api} {version}: {error}") from None
        got = found.header.correlation_id
        if got != pending.correlation_id:
            raise CaseFailure(f"the response has the correlation id {got}, the request {pending.correlation_id}")
        self.foreign += self._foreign(found.message, f"{which.api} {version}")
        return BrokerAnswer(found.message, version)

    def _foreign(self, message: Message, name: str) -> Iterator[str]:
        expected = self.cluster.expected
        for each in endpoints(message):
            if expected and (each.host, each.port) not in expected:
                place = f"{name}, {each.path}" if each.path else name
                yield f"{place}: the address {each.host}:{each.port} is not expected"

    def answer(self, send: Send, retry: Sequence[int] = ()) -> BrokerAnswer:
        """Send a request and return the response; repeat it for the time of a step while it has one of the codes."""
        end = monotonic() + self.deadline.per_step
        while True:
            self.send(send)
            answer = self.receive(send.connection)
            if monotonic() >= end or not answer.codes.intersection(retry):
                return answer
            self.deadline.sleep(_RETRY_SECONDS)

    def ask(
        self, name: str, versions: Versions, message: Mapping[str, Any], retry: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Return the response to a request as JSON, on a connection that no step uses; arguments as ``answer``."""
        return self.answer(Send(api=name, version=versions, message=message, connection=_SETUP), retry).json

    def unread(self) -> bytes:
        """Return bytes that no request asked for."""
        return b"".join(each.unread() for each in self._wires.values()) if not any(self._pending.values()) else b""

    def close(self) -> None:
        for each in self._wires.values():
            with suppress(OSError):
                each.close()
