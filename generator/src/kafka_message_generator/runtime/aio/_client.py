"""Client connection with asyncio."""

from __future__ import annotations

import asyncio
from asyncio import Future, StreamReader, StreamWriter
from collections.abc import Generator
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Self, TypeVar

from .._base.message import Request, Response, class_of
from ..connection import ClientConnection, ResponseReceived, Sent, VersionFallback, expects_response, sasl_requests
from ..protocol import ErrorCode
from ._listener import READ_SIZE, close_writer, next_event, within

R = TypeVar("R", bound=Response)
_HINT = "does the port expect TLS, or refuse connections?"


class BrokerConnection:
    """Connection to a broker, from ``connect``, for any number of tasks. ``async with`` closes it at its end."""

    def __init__(self, streams: tuple[StreamReader, StreamWriter], connection: ClientConnection, *options: Any) -> None:
        self._reader, self._writer = streams
        self._address, self._timeout, max_pending = options
        self.connection = connection
        """State without I/O, such as the broker's ``versions``."""
        self._places = asyncio.Semaphore(max_pending)
        self._waiting: dict[int, Future[None]] = {}
        self._failure: Exception | None = None
        self._receiver = asyncio.create_task(self._receive())

    async def request(self, request: Request[R], version: int | None = None, *, lossy: bool = False) -> R:
        """Send a request and return its response. Raises the errors of ``send``, and ValueError if no response is sent."""
        if not expects_response(request):
            raise ValueError(f"{request.NAME} gets no response, as a ProduceRequest with acks=0; use send")
        return (await self.send(request, version, lossy=lossy)).response

    async def send(self, request: Request[R], version: int | None = None, *, lossy: bool = False) -> Sent[R]:
        """Send a request, wait for its response if it expects one, and return both; arguments as ``ClientConnection.send``.

        A response that arrives after a timeout or a cancellation is discarded. Raises TimeoutError after the
        ``request_timeout`` of ``connect``, ConnectionError if the connection ends first, and as ``ClientConnection.send``.
        """
        async with within(self._timeout, f"{request.NAME}: no response from {self._address}"):
            await self._places.acquire()
            try:
                self._check_open(request)
                sent = self.connection.send(request, version, lossy=lossy)
            except BaseException:
                self._places.release()
                raise
            answered: Future[None] = asyncio.get_running_loop().create_future()
            self._waiting[sent.correlation_id] = answered
            if not sent.expects_response:
                self._wake(sent.correlation_id)
            self._writer.write(sent.data)
            with suppress(OSError):  # the receiver reports a lost connection
                await self._writer.drain()
            await answered
        if sent.expects_response and not sent.is_answered:
            self._check_open(request)
        return sent

    async def close(self, timeout: float = 1.0) -> None:
        """Close the connection. Pending requests raise ConnectionError; unsent bytes are lost after ``timeout`` seconds."""
        self._end(ConnectionError("this program has closed it"))
        await close_writer(self._writer, timeout)
        self._receiver.cancel()  # it may decode a response
        await asyncio.wait([self._receiver])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _check_open(self, request: Request[Any]) -> None:
        if self._failure is not None:
            ended = f"{request.NAME}: the connection to {self._address} has ended: {self._failure}"
            raise ConnectionError(ended) from self._failure

    async def _receive(self) -> None:
        source = self.connection.next_event, self.connection.decode_ahead, asyncio.Semaphore(1)
        try:
            while data := await self._reader.read(READ_SIZE):
                self.connection.receive_data(data)
                while (event := await next_event(*source, [])) is not None:
                    if isinstance(event, VersionFallback):
                        self._writer.write(event.data)
                    elif isinstance(event, ResponseReceived):
                        self._wake(event.sent.correlation_id)
            list(self.connection.receive_data(b""))  # raises if a frame is incomplete
            hint = f" before it sent its versions; {_HINT}" if self.connection.versions is None else ""
            raise ConnectionError(f"the broker has closed it{hint}")
        except Exception as error:  # any error ends the connection
            self._end(error)
            self._writer.transport.abort()

    def _end(self, error: Exception) -> None:
        self._failure = self._failure or error
        for correlation_id in list(self._waiting):
            self._wake(correlation_id)

    def _wake(self, correlation_id: int) -> None:
        if answered := self._waiting.pop(correlation_id, None):
            self._places.release()
            if not answered.done():  # the task may have given up
                answered.set_result(None)


async def connect(
    host: str,
    port: int,
    *,
    connection: ClientConnection | None = None,
    ssl_context: SSLContext | None = None,
    sasl: tuple[str, str, str] | None = None,
    timeout: float = 30.0,
    request_timeout: float = 30.0,
    max_pending: int = 100,
) -> BrokerConnection:
    """Connect to a broker, with TLS if ``ssl_context`` is given; negotiate versions, and log in with ``sasl``.

    ``connection``, new if None, sets the client id and limits. With its ``versions``, or in a package without
    ApiVersionsRequest, nothing is negotiated. ``sasl`` is
    the mechanism, user name and password, as for ``sasl_requests``. ``timeout`` limits this call, ``request_timeout``
    each later request, in seconds. At most ``max_pending`` requests are unanswered at a time; others wait.

    Raises TimeoutError; OSError, which includes ConnectionError and ``ssl.SSLError``; AuthenticationError; ValueError.
    """
    address, state = f"{host} port {port}", connection or ClientConnection()
    async with within(timeout, f"no connection to {address}"):
        try:
            streams = await asyncio.open_connection(host, port, ssl=ssl_context)
        except ConnectionResetError as error:  # has no text
            raise ConnectionResetError(f"no connection to {address}: reset; {_HINT}") from error
        made = BrokerConnection(streams, state, address, request_timeout, max_pending)
        try:
            if state.versions is None:
                await _negotiate(made)
            if sasl is not None:
                await _log_in(made, sasl_requests(*sasl))
        except BaseException:
            await made.close(0)
            raise
    return made


async def _negotiate(broker: BrokerConnection) -> None:
    try:
        kind: Any = class_of("ApiVersionsRequest")
    except AttributeError:  # a package of another protocol
        return
    response = await broker.request(kind(client_software_name="kafka-messages", client_software_version="1"))
    if response.error_code:
        raise ConnectionError(f"the ApiVersionsResponse has the error {ErrorCode(response.error_code).name}")


async def _log_in(broker: BrokerConnection, requests: Generator[Request[Any], Any, None]) -> None:
    with suppress(StopIteration):
        request = next(requests)
        while True:
            request = requests.send(await broker.request(request))
