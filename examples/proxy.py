"""A proxy: `python examples/proxy.py PORT HOST BROKER_PORT` shows clients its own address for each broker behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from kafka_messages.connection import Middleman, RemoteProtocolError, ResponsePassing, endpoints
from kafka_messages.protocol import ApiKey, apis
from kafka_messages.schema import facts_of

OF_APPLICATIONS = (ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE)
"""The addresses in their responses are those of applications: no broker listens there."""
WITH_ADDRESSES = [
    api
    for api in apis()
    if not api.is_removed and api.key not in OF_APPLICATIONS and facts_of(api.response_class).endpoints()
]


class Passing(Protocol):
    """A request, a response or a token on its way, or the end of them."""

    @property
    def data(self) -> bytes: ...


class Proxy:
    """A port of this machine for each broker; those that a response names get theirs when it passes."""

    def __init__(self) -> None:
        self.ports: dict[tuple[str, int], int] = {}
        self.lock = asyncio.Lock()

    async def listen(self, host: str, port: int, own: int = 0) -> int:
        """The port that stands for a broker, open from now on."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self.serve(reader, writer, host, port)

        async with self.lock:
            if (host, port) not in self.ports:
                server = await asyncio.start_server(serve, "127.0.0.1", own)
                self.ports[host, port] = server.sockets[0].getsockname()[1]
        return self.ports[host, port]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
        """Pass on what a client and the broker say, until one of them goes."""
        try:
            broker_reader, broker_writer = await asyncio.open_connection(host, port)
        except OSError as error:
            print(error)
            writer.close()
            return
        middleman = Middleman(decode=WITH_ADDRESSES)
        await asyncio.gather(
            self.passes(reader, broker_writer, middleman.receive_from_client),
            self.passes(broker_reader, writer, middleman.receive_from_broker),
        )

    async def passes(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        receive: Callable[[bytes], Iterable[Passing]],
    ) -> None:
        try:
            while data := await reader.read(1 << 18):
                for event in receive(data):
                    writer.write(await self.rewritten(event))
                await writer.drain()
        except RemoteProtocolError as error:
            print(error)
        except ConnectionError:
            pass  # one of them has gone
        finally:
            writer.close()

    async def rewritten(self, event: Passing) -> bytes:
        """The bytes of an event, with this proxy's addresses where it has some; without, they are those that came."""
        if not isinstance(event, ResponsePassing) or event.message is None:
            return event.data
        found = list(endpoints(event.message))
        for endpoint in found:
            endpoint.port = await self.listen(endpoint.host, endpoint.port)
            endpoint.host = "127.0.0.1"
        return event.encode() if found else event.data


async def main(own: int, host: str, port: int) -> None:
    await Proxy().listen(host, port, own)
    await asyncio.Event().wait()


if __name__ == "__main__":
    import sys

    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
