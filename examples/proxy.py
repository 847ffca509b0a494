"""A proxy: `python examples/proxy.py PORT HOST BROKER_PORT` shows clients its own address for each broker behind it."""

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
from kafka_messages.schema import facts_of

OF_APPLICATIONS = (ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE)
"""The addresses in their responses are those of applications: no broker listens there."""
WITH_ADDRESSES = [
    each
    for each in apis()
    if not each.is_removed and each.key not in OF_APPLICATIONS and facts_of(each.response_class).endpoints()
]
API_VERSIONS = api(ApiKey.API_VERSIONS)
READ = {int(each.key): each.valid_versions for each in apis()}
"""The versions that this package can read."""
LINGER_SECONDS = 30
"""That a broker has for its last answers, after a client has said that it asks no more."""
LARGE = 1 << 16
"""Bytes of a frame from which on its chunks are written one by one."""


def limited(told: ApiVersionsResponse) -> bool:
    """Whether a broker offers what this package cannot read, which is taken out: addresses in it would pass unseen."""
    is_changed = False
    for each in list(told.api_keys):
        ours = READ.get(each.api_key)
        if ours is None or each.min_version > ours.highest or each.max_version < ours.lowest:
            told.api_keys.remove(each)
        elif each.min_version < ours.lowest or each.max_version > ours.highest:
            each.min_version = max(each.min_version, ours.lowest)
            each.max_version = min(each.max_version, ours.highest)
        else:
            continue
        is_changed = True
    return is_changed


def write(writer: asyncio.StreamWriter, chunks: list[bytes]) -> None:
    """Write a small frame at once, and a large one in its chunks: joining them would copy it."""
    for each in chunks if sum(map(len, chunks)) >= LARGE else [b"".join(chunks)]:
        writer.write(each)


class Proxy:
    """A port of this machine for each broker; those that a response names get theirs when it passes."""

    def __init__(self) -> None:
        self.ports: dict[tuple[str, int], int] = {}

    async def listen(self, brokers: Iterable[tuple[str, int]], own: int = 0) -> None:
        """Open a port for each of the brokers, if it has none: for all of them, or none if there are not enough."""
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
        """Pass on what a client and the broker say, until one of them goes."""
        try:
            broker_reader, broker_writer = await asyncio.open_connection(host, port)
        except (OSError, ValueError, OverflowError) as error:  # nobody is there, or it is no name or port at all
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
                print(f"{host!r} port {port} goes on {LINGER_SECONDS} seconds after its client: closed")
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
        """Pass on one direction to its end. A client that is too new is told so here, by the answer to ApiVersions."""
        try:
            while data := await reader.read(1 << 18):
                for event in receive(data):
                    if isinstance(event, RequestForwarded) and event.error and event.api == API_VERSIONS:
                        refuse(event)
                    else:
                        write(writer, await self.rewritten(event))
                await writer.drain()
            with suppress(OSError):  # of one that has gone meanwhile
                writer.write_eof()
        except ConnectionError:
            writer.close()  # one of them has gone
        except (RemoteProtocolError, OSError) as error:
            print(error)
            writer.close()

    async def rewritten(self, event: FromClient | FromBroker) -> list[bytes]:
        """The chunks of an event, with this proxy's addresses where it has some; without, they are those that came."""
        if not isinstance(event, ResponseForwarded):
            return event.chunks
        if event.error:
            print(f"passed as it is, with any addresses of brokers: {event}: {event.error}")
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
