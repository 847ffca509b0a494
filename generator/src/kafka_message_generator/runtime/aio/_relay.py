"""Proxy with asyncio: a local port for each broker, whose address it replaces in responses."""

from __future__ import annotations

import asyncio
import socket
from asyncio import Queue, StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from ssl import SSLContext
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
from ..protocol import Api, apis
from ..schema.descriptors import descriptor_of
from ._listener import CloseConnection, Listener, client_address, log, read, read_ahead, within, write

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
    linger: float = 1.0,
    on_error: Callable[[Exception], object] = log,
) -> Relay:
    """Listen at a port for each broker, and forward to it, with TLS if ``ssl_context`` is given.

    ``port`` is for the first broker. In responses, addresses of brokers are replaced by ``host`` and a port, which is
    opened for a new broker. ApiVersions is limited to versions that this package can decode.

    The hooks get each request and each response, decoded for the APIs in ``decode`` and those with addresses. They may
    wait, and return None to forward it, or bytes to send instead: ``encode()`` after changing the message.
    ``on_request`` may also return a response for the client. The responses of a connection keep their order.

    After a client has closed its side, responses have ``linger`` seconds. Errors end one connection, and are passed to
    ``on_error``, by default to a logger; so are responses that are forwarded undecoded. Raises OSError.
    """
    made = Relay(linger, on_error, host, decode, ssl_context, on_request, on_response)
    try:
        await made._open(brokers, port)
    except BaseException:
        await made.close(0)
        raise
    return made


def _has_brokers(api: Api) -> bool:
    of_applications = ("StreamsGroupHeartbeat", "StreamsGroupDescribe")  # their addresses are not those of brokers
    if api.is_removed or not api.response_name or api.name in of_applications:
        return False
    return bool(descriptor_of(api.response_class).endpoints())


class Relay(Listener):
    """Ports of a proxy, from ``relay``."""

    def __init__(self, linger: float, on_error: Any, host: str, decode: Iterable[Any], *options: Any) -> None:
        super().__init__(linger, on_error)
        self.ports: dict[Address, int] = {}
        """Local port of each broker, by the broker's host and port."""
        self._host = host
        self._decode = [
            *filter(_has_brokers, apis()),
            *(each for each in apis() if each.name == _API_VERSIONS),
            *decode,
        ]
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
            await self._listen(partial(self._forward, broker), sock=each)

    async def _forward(self, broker: Address, reader: StreamReader, writer: StreamWriter) -> None:
        where = f"no connection to {broker[0]!r} port {broker[1]}"
        try:
            async with within(_CONNECT_SECONDS, where):
                broker_reader, broker_writer = await asyncio.open_connection(*broker, ssl=self._ssl_context)
        except (OSError, ValueError, OverflowError) as error:  # unreachable, or no valid name or port
            self._report(ConnectionError(f"{where}: {error}"), writer)
            return
        made, chunks = RelayConnection(self, broker, writer), Queue[bytes](1)
        tasks = read_ahead(reader, chunks), made._requests(chunks, broker_writer), made._responses(broker_reader)
        await self._run([writer, broker_writer], *tasks)


class RelayConnection:
    """Connection of a client through ``relay`` to the broker at the address ``broker``, for hooks."""

    def __init__(self, relay: Relay, broker: Address, client: StreamWriter) -> None:
        self.broker = broker
        self.connection = ProxyConnection(relay._decode)
        """State without I/O, such as ``identity`` and ``topic_names``."""
        self.client_address = client_address(client)
        """Host and port of the client."""
        self._relay, self._client = relay, client
        self._order = asyncio.Lock()  # a local response must not overtake one that waits in a hook

    async def _requests(self, chunks: Queue[bytes], broker: StreamWriter) -> None:
        try:
            while True:
                data = await chunks.get()
                for event in self.connection.receive_from_client(data):
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
        while True:
            data = await read(reader)
            async with self._order:
                for event in self.connection.receive_from_broker(data):
                    await write(self._client, await self._for_client(event))
            if not data:
                return

    async def _for_client(self, event: FromBroker) -> bytes:
        if not isinstance(event, ResponseForwarded):
            return event.data
        if event.error is not None:
            what = f"forwarded unchanged, with any addresses of brokers: {event}"
            self._relay._report(event.error, self._client, what)
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
        await self._relay._open((each.host, each.port) for each in found)
        for each in found:
            each.host, each.port = self._relay._host, self._relay.ports[each.host, each.port]
        return bool(found)
