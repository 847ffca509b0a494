"""Proxy that replaces brokers' addresses by its own: `python examples/proxy.py PORT HOST BROKER_PORT`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from kafka_messages import ApiVersionsResponse
from kafka_messages.connection import (
    FromBroker,
    FromClient,
    ProxyConnection,
    RemoteProtocolError,
    RequestForwarded,
    ResponseForwarded,
    announce,
    endpoints,
)
from kafka_messages.protocol import ApiKey, api, apis
from kafka_messages.schema import descriptor_of

OF_APPLICATIONS = (ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE)
"""APIs with addresses of applications in their responses, not of brokers."""
WITH_ADDRESSES = [
    each
    for each in apis()
    if not each.is_removed and each.key not in OF_APPLICATIONS and descriptor_of(each.response_class).endpoints()
]
API_VERSIONS = api(ApiKey.API_VERSIONS)
READ = {int(each.key): each.valid_versions for each in apis()}
"""Versions that this package can read."""
LINGER_SECONDS = 30
"""Time for a broker's last responses after the client has finished."""
LARGE = 1 << 16
"""Frame size in bytes from which chunks are written separately."""


def limited(response: ApiVersionsResponse) -> bool:
    """Remove undecodable versions, whose addresses would stay unchanged. Return True if a version was removed."""
    is_changed = False
    for each in list(response.api_keys):
        ours = READ.get(each.api_key)
        if ours is None or each.min_version > ours.highest or each.max_version < ours.lowest:
            response.api_keys.remove(each)
        elif each.min_version < ours.lowest or each.max_version > ours.highest:
            each.min_version = max(each.min_version, ours.lowest)
            each.max_version = min(each.max_version, ours.highest)
        else:
            continue
        is_changed = True
    return is_changed


def write(writer: asyncio.StreamWriter, chunks: list[bytes]) -> None:
    """Write a small frame at once; write a large frame in chunks, to avoid a copy."""
    for each in chunks if sum(map(len, chunks)) >= LARGE else [b"".join(chunks)]:
        writer.write(each)


class Proxy:
    """A local port for each broker, opened when a response first contains the broker."""

    def __init__(self) -> None:
        self.ports: dict[tuple[str, int], int] = {}

    async def listen(self, brokers: Iterable[tuple[str, int]], own: int = 0) -> None:
        """Open a port for each broker that has none; if one fails, open none."""
        opened: dict[tuple[str, int], socket.socket] = {}
        try:
            for broker in brokers:
                if broker not in self.ports and broker not in opened:
                    opened[broker] = socket.create_server(("127.0.0.1", own))
        except OSError as error:
            for each in opened.values():
                each.close()
            raise OSError(f"no port for a broker after {len(self.ports) + len(opened)}: {error}") from error
        self.ports.update({broker: each.getsockname()[1] for broker, each in opened.items()})
        for (host, port), each in opened.items():
            await asyncio.start_server(partial(self.serve, host=host, port=port), sock=each)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
        """Forward bytes until the broker disconnects, or ``LINGER_SECONDS`` after the client has finished."""
        try:
            broker_reader, broker_writer = await asyncio.open_connection(host, port)
        except (OSError, ValueError, OverflowError) as error:  # unreachable, or no valid name or port
            print(f"no connection to {host!r} port {port}: {error}")
            writer.close()
            return
        connection = ProxyConnection(decode=[*WITH_ADDRESSES, API_VERSIONS])

        def refuse(request: RequestForwarded) -> None:
            writer.write(connection.answer(request, announce([])))

        requests = self.passes(reader, broker_writer, connection.receive_from_client, refuse)
        responses = asyncio.create_task(self.passes(broker_reader, writer, connection.receive_from_broker, refuse))
        both = [asyncio.create_task(requests), responses]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            _, late = await asyncio.wait([responses], timeout=LINGER_SECONDS)
            if late:
                print(f"{host!r} port {port}: closed {LINGER_SECONDS} seconds after the end of the client")
        finally:
            for each in both:
                each.cancel()
            for end in (writer, broker_writer):
                end.close()

    async def passes(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        receive: Callable[[bytes], Iterable[FromClient | FromBroker]],
        refuse: Callable[[RequestForwarded], None],
    ) -> None:
        """Forward one direction to its end, but respond to an undecodable ApiVersionsRequest."""
        try:
            while data := await reader.read(1 << 18):
                for event in receive(data):
                    if isinstance(event, RequestForwarded) and event.error and event.api == API_VERSIONS:
                        refuse(event)
                    else:
                        write(writer, await self.rewritten(event))
                await writer.drain()
            with suppress(OSError):  # if the receiver has disconnected meanwhile
                writer.write_eof()
        except ConnectionError:
            writer.close()  # sender or receiver has disconnected
        except (RemoteProtocolError, OSError) as error:
            print(error)
            writer.close()

    async def rewritten(self, event: FromClient | FromBroker) -> list[bytes]:
        """Return the chunks of an event, changed only if it has addresses."""
        if not isinstance(event, ResponseForwarded):
            return event.chunks
        if event.error:
            print(f"forwarded unchanged, with any addresses of brokers: {event}: {event.error}")
        if event.message is None:
            return event.chunks
        if isinstance(event.message, ApiVersionsResponse):
            return event.encode_chunks() if limited(event.message) else event.chunks
        found = list(endpoints(event.message))
        await self.listen((each.host, each.port) for each in found)
        for each in found:
            each.host, each.port = "127.0.0.1", self.ports[each.host, each.port]
        return event.encode_chunks() if found else event.chunks


async def main(own: int, host: str, port: int) -> None:
    await Proxy().listen([(host, port)], own)
    print(f"listening at 127.0.0.1:{own}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    import sys

    try:
        asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
    except (OSError, KeyboardInterrupt) as error:
        sys.exit(str(error) or 0)
