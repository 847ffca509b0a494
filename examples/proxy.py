"""Proxy that replaces brokers' addresses by its own: `python examples/proxy.py PORT HOST BROKER_PORT`."""

from __future__ import annotations

import asyncio

from kafka_messages.aio import relay

LINGER_SECONDS = 30
"""Time for a broker's last responses after the client has finished."""


def show(error: Exception) -> None:
    """Print what ended a connection, or why a response was forwarded without a change."""
    print(f"{error} ({', '.join(error.__notes__)})", flush=True)


async def main(own: int, host: str, port: int) -> None:
    async with await relay([(host, port)], port=own, linger=LINGER_SECONDS, on_error=show) as proxy:
        print(f"listening at 127.0.0.1:{proxy.port}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    import sys

    try:
        asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
    except (OSError, KeyboardInterrupt) as error:
        sys.exit(str(error) or 0)
