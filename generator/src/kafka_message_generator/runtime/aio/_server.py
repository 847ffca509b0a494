"""Server with asyncio: one task for each request."""

from __future__ import annotations

import asyncio
from asyncio import Queue, StreamReader, StreamWriter, Task
from collections.abc import Awaitable, Callable
from ssl import SSLContext
from time import monotonic
from typing import TypeAlias

from .._base.message import Response
from ..connection import ConnectionClosed, LocalProtocolError, RequestReceived, ServerConnection, State
from ..protocol import MAX_FRAME_SIZE
from ._listener import Accepted, CloseConnection, Listener, check_least, client_address, log, next_event, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..protocol._shapes import ApiVersionsResponse

Handler: TypeAlias = Callable[[RequestReceived], Awaitable[Response | None]]


async def serve(
    handler: Handler,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    announced: ApiVersionsResponse | None = None,
    ssl_context: SSLContext | None = None,
    max_pending: int = 100,
    max_frame_size: int = MAX_FRAME_SIZE,
    max_connections: int = 10_000,
    idle_timeout: float | None = 600.0,
    linger: float = 1.0,
    on_error: Callable[[Exception], object] = log,
) -> Listener:
    """Listen at a port (0: any free port), and call ``handler`` for each request, in a task of its own.

    The handler returns the response, or None if the request expects none. Responses keep the order of their requests.
    A connection is not read while ``max_pending`` of its requests are unanswered. After a client has closed its side, it
    is closed when no response was ready for ``linger`` seconds. ``announced`` limits versions, as for ``ServerConnection``.
    While ``max_connections`` are open, new ones are closed at once. A connection without unanswered requests is closed
    ``idle_timeout`` seconds after its last byte (None: never), as by Kafka's ``connections.max.idle.ms``.

    An invalid frame, an invalid response or an exception in the handler ends this connection only, and is passed to
    ``on_error``, by default to a logger. Raises OSError, and ValueError or TypeError for a wrong option.
    """
    check_least("max_pending", max_pending, int, 1)
    ServerConnection(announced, max_frame_size=max_frame_size)  # raises here, not in a session
    listener = Listener(linger, on_error, max_connections, idle_timeout)

    async def session(reader: StreamReader, writer: StreamWriter) -> None:
        connection = ServerConnection(announced, max_frame_size=max_frame_size, text="surrogateescape")
        made = _Session(listener, writer, connection, handler, max_pending)
        await listener._run(made, [writer], made._read_ahead(reader), made.requests(), made.responses())

    await listener._listen(session, None, host=host, port=port, ssl=ssl_context)
    return listener


class _Session(Accepted):
    def __init__(
        self, listener: Listener, writer: StreamWriter, connection: ServerConnection, handler: Handler, most: int
    ) -> None:
        super().__init__(writer)
        self.listener, self.writer, self.connection, self.handler = listener, writer, connection, handler
        self.unfinished = 0
        self.address = client_address(writer)
        self.places = asyncio.Semaphore(most)
        self.pending: Queue[tuple[RequestReceived, Task[Response | CloseConnection | None]] | None] = Queue()

    def _is_busy(self) -> bool:
        return self.unfinished > 0

    async def requests(self) -> None:
        source = self.connection.next_event, self.connection.decode_ahead, self.listener._decoders, self._decoding
        try:
            while True:
                await self.places.acquire()
                while (event := await next_event(*source)) is None:
                    if self.connection.state is State.HANDSHAKING:
                        await self.pending.join()
                    else:
                        self.connection.receive_data(await self._chunks.get())
                if isinstance(event, ConnectionClosed):
                    return
                if not isinstance(event, RequestReceived):
                    raise LocalProtocolError("raw SASL tokens are not supported; refuse SaslHandshake version 0")
                event.client_address = self.address
                self.unfinished += 1
                self.pending.put_nowait((event, asyncio.create_task(self.answer(event))))
        finally:
            self.pending.put_nowait(None)

    async def answer(self, received: RequestReceived) -> Response | CloseConnection | None:
        try:
            response = await self.handler(received)
            if response is None and received.expects_response:
                raise TypeError(f"the handler returned None, but {received.api.request_name} expects a response")
            return response
        except CloseConnection as error:
            return error
        except Exception as error:  # a handler may raise anything; it ends only this connection
            self.listener._report(error, self.writer, f"handler of {received.api.request_name} v{received.version}")
            return CloseConnection()

    async def responses(self) -> None:
        try:
            while (first := await self.pending.get()) is not None:
                received, task = first
                response = await task
                if isinstance(response, CloseConnection):
                    raise response
                if response is not None:
                    await write(self.writer, self.connection.send(received, response))
                self.pending.task_done()
                self.unfinished -= 1
                self._used = monotonic()
                self.places.release()
        finally:
            while not self.pending.empty():
                if (left := self.pending.get_nowait()) is not None:
                    left[1].cancel()
