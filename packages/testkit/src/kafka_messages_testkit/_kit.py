"""Base of the cluster and the proxy: rules, recorded exchanges, and the thread of the event loop."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from kafka_messages import DecodeError, Request
from kafka_messages.aio import CloseConnection
from kafka_messages.protocol import ApiKey, api, apis, decode_request, encode_request, encode_response
from kafka_messages.schema import descriptor_of

from . import _capture
from ._exchange import Exchange, ExchangeLog
from ._loop import LoopThread
from ._rule import Frequency, Rules, Trigger
from ._selectors import Selectors

R = TypeVar("R", bound=Request[Any])


class Kit(ABC):
    """Context manager that runs servers in a thread and applies rules to their requests. Thread-safe."""

    def __init__(self, seed: int | None, max_exchange_bytes: int) -> None:
        self._rules = Rules(seed, self.exchanges)
        self._exchanges = ExchangeLog(max_exchange_bytes)
        self._failures: list[BaseException] = []
        self._thread: LoopThread | None = None
        self._nodes: Collection[int] | None = None  # node ids, if they cannot change
        self._served: Collection[int] | None = None  # API keys, if they are known

    @property
    @abstractmethod
    def bootstrap_servers(self) -> str:
        """Addresses for a client, separated by commas."""

    def on(
        self,
        cls: type[R],
        *,
        topic: str | None = None,
        topic_id: UUID | None = None,
        partition: int | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        client_id: str | None = None,
        node_id: int | None = None,
        when: Callable[[R], object] | None = None,
        nth: int = 1,
        times: int | None = 1,
        every: int = 1,
        probability: float = 1.0,
        optional: bool = False,
    ) -> Trigger[R]:
        """Select requests of a class, such as ``OffsetCommitRequest``; call a method of the result to make a rule.

        A request matches if it contains all that is named: a topic, a partition, a group, a transactional id; comes from
        the client ``client_id``, at the broker ``node_id``; and ``when`` returns a true value for it. Of the matching
        requests, the rule affects those from the ``nth`` on, each ``every``-th, with ``probability``, at most ``times``;
        ``times=None`` means always.

        Rules are tried in the order in which they were made; the first that matches and is not used up acts. A rule
        that affects no request raises UnusedRuleError when the context ends, unless it is ``optional``.

        Raises TypeError or ValueError for a selector that no version of the request can match.
        """
        if node_id is not None and self._nodes is not None and node_id not in self._nodes:
            raise ValueError(f"there is no broker {node_id!r}; the node ids are 1 to {len(self._nodes)}")
        key: object = getattr(cls, "API_KEY", None)
        if self._served is not None and key is not None and key not in self._served:
            raise ValueError(f"the cluster does not serve {cls.__name__}; use KafkaProxy, or another release")
        selectors = Selectors(cls, topic, topic_id, partition, group, transactional_id, client_id, node_id, when)
        return Trigger(self._rules, selectors, Frequency(nth, times, every, probability), optional)

    def requests(self, cls: type[R]) -> list[R]:
        """Return the received requests of a class, oldest first."""
        return [each.request for each in self.exchanges(cls)]

    def exchanges(
        self, cls: type[Request[Any]] | None = None, *, client_id: str | None = None, node_id: int | None = None
    ) -> list[Exchange]:
        """Return the recorded exchanges, oldest first, or those of a class, a client or a broker.

        The oldest are forgotten beyond ``max_exchange_bytes``.
        """
        return [
            each
            for each in list(self._exchanges.sizes)
            if (cls is None or issubclass(each.api.request_class, cls))
            and client_id in (None, each.client_id)
            and node_id in (None, each.node_id)
        ]

    def clear(self) -> None:
        """Forget the exchanges so far, also those of rules, which keep only their counts."""
        self._exchanges = ExchangeLog(self._exchanges.max_bytes)
        self._rules.forget()

    def save(self, path: str | Path) -> None:
        """Write the exchanges to a pcap file, which ``kafka-messages capture`` and Wireshark read. Raises OSError."""
        _capture.save(self.exchanges(), path)

    def __enter__(self) -> Self:
        if self._thread is not None:
            raise RuntimeError(f"{type(self).__name__} was started before; create another one")
        self._import()
        self._thread = LoopThread(type(self).__name__)
        try:
            self._thread.run(self._start())
        except BaseException:
            self._thread.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop within a second. Without an exception, raise those of handlers and functions, or UnusedRuleError."""
        self._rules.end()
        thread = self._started()
        try:
            with suppress(TimeoutError):
                thread.run(self._stop(), 0.4)
        finally:
            thread.stop()
        if error is None:
            self._check()

    def _check(self) -> None:
        """Raise the exceptions of handlers and functions, or UnusedRuleError."""
        __tracebackhide__ = True  # in reports of pytest
        failures, self._failures = self._failures, []
        if failures:
            raise failures[0] if len(failures) == 1 else BaseExceptionGroup("failed requests", failures)
        self._rules.check_used()

    def _started(self) -> LoopThread:
        """Return the thread. Raises RuntimeError."""
        if self._thread is None:
            raise RuntimeError(f"{type(self).__name__} is not started; use it in a with statement")
        return self._thread

    def _import(self) -> None:
        """Import what requests need, so that the thread of the event loop imports nothing."""
        for each in apis():
            if not each.is_removed and (self._served is None or each.key in self._served):
                descriptor_of(each.request_class)
                if each.response_name:
                    descriptor_of(each.response_class)
        first: Any = api(ApiKey.API_VERSIONS)  # with invalid text, of an older version, and incomplete
        data = encode_request(first.request_class(client_software_name="\udcff"), 3, 0, text="surrogateescape")[4:]
        decode_request(data, text="surrogateescape")
        encode_response(first.response_class().downgraded(0), 0, 0)
        with suppress(DecodeError):
            decode_request(data[:-1])

    @abstractmethod
    async def _start(self) -> None: ...

    @abstractmethod
    async def _stop(self) -> None: ...

    @contextmanager
    def _ending(self, exchange: Exchange) -> Iterator[None]:
        """Record how an exchange ends. Raises CloseConnection for an exception of a handler, or a function of a rule."""
        try:
            yield
        except CloseConnection as error:
            exchange.response_data, exchange.answered_at = error.data, time.time()
            raise
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # also of pytest.fail(); it fails the test
            self._fail(error)
            raise CloseConnection from error
        finally:
            exchange._end()
            self._exchanges.measure(exchange)

    def _fail(self, error: BaseException) -> None:
        """Keep an exception of a handler or function; one of several equal ones, as clients repeat requests."""
        if (type(error), str(error)) not in ((type(each), str(each)) for each in self._failures):
            self._failures.append(error)

    def _report(self, error: Exception) -> None:
        """Log an error that ended one connection, such as an invalid request."""
        logging.getLogger(__name__).warning("%s (%s)", error, ", ".join(getattr(error, "__notes__", ())))
