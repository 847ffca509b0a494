"""Proxy with asyncio: a local port for each broker, whose address it replaces in responses."""

from __future__ import annotations

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from ssl import SSLContext
from time import monotonic
from typing import Any, TypeAlias

from .._base.message import Response
from ..connection import (
    FromBroker,
    FromClient,
    ProxyConnection,
    RequestForwarded,
    ResponseForwarded,
    announce,
    endpoints,
    limit_versions,
)
from ..protocol import MAX_FRAME_SIZE, Api, apis
from ..schema.descriptors import descriptor_of
from ._listener import Accepted, CloseConnection, Listener, client_address, log, next_event, read, within, write

Address: TypeAlias = tuple[str, int]
OnRequest: TypeAlias = Callable[[RequestForwarded, "RelayConnection"], Awaitable[Response | bytes | None]]
OnResponse: TypeAlias = Callable[[ResponseForwarded, "RelayConnection"], Awaitable[bytes | None]]
_API_VERSIONS, _CONNECT_SECONDS = "ApiVersions", 10


async def relay(
    brokers: Iterable[Address],
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    decode: Iterable[Any] = (),
    on_request: OnRequest | None = None,
    on_response: OnResponse | None = None,
    ssl_context: SSLContext | None = None,
    max_frame_size: int = MAX_FRAME_SIZE,
    max_connections: int = 10_000,
    idle_timeout: float | None = 600.0,
    linger: float = 1.0,
    on_error: Callable[[Exception], object] = log,
) -> Relay:
    """Listen at a port for each broker, and forward to it, with TLS if ``ssl_context`` is given.

    ``port`` is for the first broker. In responses, addresses of brokers are replaced by ``host`` and a port, which is
    opened for a new broker, and closed ``idle_timeout`` seconds after the last response that names it and the last
    connection. ApiVersions is limited to versions that this package can decode.

    The hooks get each request and each response, decoded for the APIs in ``decode`` and those with addresses. They may
    wait, and return None to forward it, or bytes to send instead: ``encode()`` after changing the message.
    ``on_request`` may also return a response for the client. The responses of a connection keep their order.

    ``max_frame_size`` limits requests and responses; ``max_connections`` and ``idle_timeout`` are as for ``serve``.
    After a client has closed its side, responses have ``linger`` seconds. Errors end one connection, and are passed to
    ``on_error``, by default to a logger; so are responses that are forwarded undecoded. Raises OSError, and
    ValueError or TypeError for a wrong option.
    """
    limits = linger, on_error, max_connections, idle_timeout
    made = Relay(limits, host, decode, max_frame_size, ssl_context, on_request, on_response)
    try:
        await made._open(brokers, port)
        made._kept.update(made.ports)
    except BaseException:
        await made.close(0)
        raise
    return made


def _is_rewritten(api: Api) -> bool:
    of_applications = ("StreamsGroupHeartbeat", "StreamsGroupDescribe")  # their addresses are not those of brokers
    if api.is_removed or not api.response_name or api.name in of_applications:
        return False
    return api.name == _API_VERSIONS or bool(descriptor_of(api.response_class).endpoints())


class Relay(Listener):
    """Ports of a proxy, from ``relay``."""

    def __init__(self, limits: Any, host: str, decode: Iterable[Any], max_frame_size: int, *options: Any) -> None:
        super().__init__(*limits)
        self.ports: dict[Address, int] = {}
        """Local port of each broker, by the broker's host and port."""
        self._kept: set[Address] = set()
        self._used: dict[Address, float] = {}  # when a response named a broker, or a client was connected to its port
        self._host, self._max_frame_size = host, max_frame_size
        self._decode = [*filter(_is_rewritten, apis()), *decode]
        ProxyConnection(self._decode, max_frame_size=max_frame_size)  # raises here, not in a session
        self._ssl_context, self._on_request, self._on_response = options

    async def _open(self, brokers: Iterable[Address], port: int = 0) -> None:
        opened: dict[Address, socket.socket] = {}
        try:
            for broker in brokers:
                if broker not in self.ports and broker not in opened:
                    opened[broker] = socket.create_server((self._host, 0 if opened else port))
        except OSError as error:
            for each in opened.values():
                each.close()
            raise OSError(f"no port for a broker after {len(self.ports) + len(opened)}: {error}") from error
        self.ports.update({broker: each.getsockname()[1] for broker, each in opened.items()})
        for broker, each in opened.items():
            await self._listen(partial(self._forward, broker), broker, sock=each)

    def _end_unused(self) -> None:
        super()._end_unused()
        self._used |= {each.broker: monotonic() for each in self._watched if isinstance(each, RelayConnection)}
        for broker in self.ports.keys() & self._servers.keys() - self._kept:
            if monotonic() - self._used.setdefault(broker, monotonic()) >= self._idle_timeout:
                del self.ports[broker], self._used[broker]
                self._servers.pop(broker).close()

    async def _forward(self, broker: Address, reader: StreamReader, writer: StreamWriter) -> None:
        where = f"no connection to {broker[0]!r} port {broker[1]}"
        try:
            async with within(_CONNECT_SECONDS, where):
                broker_reader, broker_writer = await asyncio.open_connection(*broker, ssl=self._ssl_context)
        except (OSError, ValueError, OverflowError) as error:  # unreachable, or no valid name or port
            self._report(ConnectionError(f"{where}: {error}"), writer)
            return
        made = RelayConnection(self, broker, writer)
        tasks = made._read_ahead(reader), made._requests(broker_writer), made._responses(broker_reader)
        await self._run(made, [writer, broker_writer], *tasks)


class RelayConnection(Accepted):
    """Connection of a client through ``relay`` to the broker at the address ``broker``, for hooks."""

    def __init__(self, relay: Relay, broker: Address, client: StreamWriter) -> None:
        super().__init__(client)
        self.broker = broker
        self.connection = ProxyConnection(relay._decode, max_frame_size=relay._max_frame_size)
        """State without I/O, such as ``identity`` and ``topic_names``."""
        self.client_address = client_address(client)
        """Host and port of the client."""
        self._relay = relay
        self._order = asyncio.Lock()  # a local response must not overtake one that waits in a hook

    def _is_busy(self) -> bool:
        return bool(self.connection.unanswered)

    async def _requests(self, broker: StreamWriter) -> None:
        ahead = self.connection.decode_request_ahead
        try:
            while True:
                data = await self._chunks.get()
                take = partial(next, self.connection.receive_from_client(data), None)
                while (event := await next_event(take, ahead, self._relay._decoders, self._decoding)) is not None:
                    frame = await self._for_broker(event)
                    try:
                        await write(broker, frame)
                    except CloseConnection:  # the broker's last responses may follow
                        return
                if not data:
                    return
        finally:
            with suppress(OSError, NotImplementedError):  # disconnected, or TLS, which cannot close one side
                broker.write_eof()

    async def _for_broker(self, event: FromClient) -> bytes:
        if not isinstance(event, RequestForwarded):
            return event.data
        result: Response | bytes | None = None
        if event.error is not None and event.api is not None and event.api.name == _API_VERSIONS:
            result = announce([])
        elif self._relay._on_request is not None:
            result = await self._relay._on_request(event, self)
        if not isinstance(result, Response):
            return event.data if result is None else result
        async with self._order:
            await write(self._client, self.connection.answer(event, result))
        return b""

    async def _responses(self, reader: StreamReader) -> None:
        ahead = self.connection.decode_response_ahead
        while True:
            data = await read(reader)
            self._used = monotonic()
            async with self._order:
                take = partial(next, self.connection.receive_from_broker(data), None)
                while (event := await next_event(take, ahead, self._relay._decoders, self._decoding)) is not None:
                    await write(self._client, await self._for_client(event))
            if not data:
                return

    async def _for_client(self, event: FromBroker) -> bytes:
        if not isinstance(event, ResponseForwarded):
            return event.data
        if event.error is not None:
            what = f"forwarded unchanged, with any addresses of brokers: {event}"
            self._relay._report(event.error.with_traceback(None), self._client, what)
        is_changed = await self._rewrite(event)
        hook: OnResponse | None = self._relay._on_response
        result = None if hook is None else await hook(event, self)
        return result if result is not None else event.encode() if is_changed else event.data

    async def _rewrite(self, event: ResponseForwarded) -> bool:
        if event.message is None:
            return False
        if event.request.api is not None and event.request.api.name == _API_VERSIONS:
            return limit_versions(event.message)
        found = list(endpoints(event.message))
        brokers = {(each.host, each.port): monotonic() for each in found}
        self._relay._used |= brokers
        await self._relay._open(brokers)
        for each in found:
            each.host, each.port = self._relay._host, self._relay.ports[each.host, each.port]
        return bool(found)
