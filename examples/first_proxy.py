"""Proxy that prints the responses of a broker: `python examples/first_proxy.py PORT HOST BROKER_PORT`."""

import asyncio
import sys
from contextlib import closing

from kafka_messages.connection import ProxyConnection, ResponseForwarded, endpoints, errors


class Proxy:
    def __init__(self, port: int, host: str, broker_port: int) -> None:
        self.port, self.host, self.broker_port = port, host, broker_port

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        broker_reader, broker_writer = await asyncio.open_connection(self.host, self.broker_port)
        connection = ProxyConnection()

        async def requests() -> None:
            while data := await reader.read(65536):
                for event in connection.receive_from_client(data):
                    broker_writer.write(event.data)
                await broker_writer.drain()
            broker_writer.close()

        async def responses() -> None:
            while data := await broker_reader.read(65536):
                for event in connection.receive_from_broker(data):
                    writer.write(self.rewritten(event) if isinstance(event, ResponseForwarded) else event.data)
                await writer.drain()
            writer.close()

        with closing(writer), closing(broker_writer):
            await asyncio.gather(requests(), responses())

    def rewritten(self, event: ResponseForwarded) -> bytes:
        if (message := event.message) is None:  # unknown API or version
            return event.data
        print(message.NAME, event.request.header.request_api_version, *(each.code.name for each in errors(message)))
        addresses = list(endpoints(message))
        for each in addresses:
            each.host, each.port = "127.0.0.1", self.port
        return event.encode() if addresses else event.data


async def main(port: int, host: str, broker_port: int) -> None:
    server = await asyncio.start_server(Proxy(port, host, broker_port).serve, "127.0.0.1", port)
    print(f"listening at 127.0.0.1:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
    except (OSError, KeyboardInterrupt) as error:
        sys.exit(str(error) or 0)
