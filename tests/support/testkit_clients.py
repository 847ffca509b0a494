"""Real clients for tests of the kit: each runs in a driver process and answers commands.

A driver reads one JSON command per line and answers each with one line; see tests/testkit/clients/drivers/lines.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from types import TracebackType
from typing import Any

from kafka_messages.enums import ErrorCode

from tests.interop.kafka import ROOT, Java, built_go, last

NAMES = ("kafka-python", "aiokafka", "confluent-kafka", "java", "franz-go")
DRIVERS = ROOT / "tests" / "testkit" / "clients" / "drivers"
WORK = ROOT / ".work" / "clients"
GRACE = 15.0
"""Seconds after the bound of a command in which a driver must answer."""
TIMEOUTS = {"request_ms": 1500, "block_ms": 5000, "backoff_ms": 30, "metadata_ms": 1000}
"""Settings of consumers and producers that make scenarios quick."""


class UnsupportedByClientError(Exception):
    """Raised for a command or an option that a client lacks."""


class ClientFailedError(Exception):
    """Raised if a client cannot be made, or if its driver hangs or ends. ``answer`` is the client's error."""

    def __init__(self, message: str, answer: Answer | None = None) -> None:
        super().__init__(message)
        self.answer = answer


@dataclass(frozen=True)
class Answer:
    """Result of a command, or the error that the application gets."""

    ok: Any = None
    error: str | None = None
    """Class of the error; librdkafka's name of it for confluent-kafka."""
    code: str | None = None
    """Kafka's name of the error code, if the client reports one."""
    text: str = ""
    fatal: bool | None = None
    retriable: bool | None = None
    abortable: bool | None = None

    @property
    def values(self) -> list[str]:
        """Values that ``poll`` returned; without them, an empty list."""
        return [value for _, _, _, value in self.ok or ()]


class Client:
    """A driver process of one of ``NAMES``. Commands to different handles run concurrently."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._log = TemporaryFile()  # noqa: SIM115 - closed in close
        self._process = subprocess.Popen(
            driver(name), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        self._numbers = count(1)
        self._lock = Lock()
        self._waiting: dict[int, Future[Answer]] = {}
        self._handles: set[str] = set()
        Thread(target=self._read, name=f"driver of {name}", daemon=True).start()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def consumer(
        self,
        servers: str,
        topics: Sequence[str] = (),
        *,
        group: str | None = None,
        instance: str | None = None,
        strategy: str | None = None,
        protocol: str = "classic",
        isolation: str = "read_uncommitted",
        reset: str = "earliest",
        session_ms: int = 6000,
        heartbeat_ms: int = 200,
        max_poll_ms: int = 10_000,
        transactional_id: str | None = None,
        transaction_ms: int = 10_000,
        **timeouts: int,
    ) -> ConsumerHandle:
        """Make a consumer, without automatic commits. Raise ClientFailedError or UnsupportedByClientError.

        ``transactional_id`` is the id of the producer that will send its offsets: franz-go has one client for both.
        ``strategy`` is range, roundrobin, sticky, cooperative-sticky or None, the client's own.
        """
        options = {key: value for key, value in locals().items() if key not in ("self", "timeouts")}
        fetch = {"fetch_ms": 100, "delivery_ms": 5000}
        return ConsumerHandle(self, "consumer", {**options, **TIMEOUTS, **fetch, **timeouts, "topics": list(topics)})

    def producer(
        self,
        servers: str,
        *,
        idempotence: bool = True,
        transactional_id: str | None = None,
        transaction_ms: int = 10_000,
        acks: str | int = "all",
        retries: int | None = None,
        delivery_ms: int = 5000,
        consumer: ConsumerHandle | None = None,
        **timeouts: int,
    ) -> ProducerHandle:
        """Make a producer. Raise ClientFailedError or UnsupportedByClientError.

        ``consumer`` is the one whose offsets it will send, made with the same ``transactional_id``.
        """
        options = {key: value for key, value in locals().items() if key not in ("self", "timeouts")}
        source = consumer.name if consumer else None
        return ProducerHandle(self, "producer", {**options, **TIMEOUTS, **timeouts, "consumer": source})

    def later(self, do: str, name: str, *, seconds: float = 10.0, **options: Any) -> Future[Answer]:
        """Send a command to a handle; return its future answer."""
        number, future = next(self._numbers), Future[Answer]()
        self._waiting[number] = future
        self._handles.add(name)
        if do == "close":
            self._handles.remove(name)
        line = json.dumps({"id": number, "do": do, "name": name, "seconds": seconds, **options})
        assert self._process.stdin is not None
        try:
            with self._lock:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise ClientFailedError(f"the driver of {self.name} has ended: {self._said()}") from error
        return future

    def result(self, do: str, future: Future[Answer], seconds: float = 10.0) -> Answer:
        """Return an answer. Kill a driver that hangs, and raise ClientFailedError."""
        try:
            return future.result(seconds + GRACE)
        except FutureTimeoutError:
            self._process.kill()
            self._process.wait()
            message = f"{self.name} did not finish {do!r} within {seconds + GRACE:.0f} seconds: {self._said()}"
            raise ClientFailedError(message) from None

    def close_handles(self, seconds: float = 2.0) -> None:
        """Close all consumers and producers, or the process if one of them hangs."""
        if not self.is_running:
            return
        closing = [self.later("close", name, seconds=seconds) for name in sorted(self._handles)]
        if wait(closing, seconds + 1).not_done:
            self.close()

    def close(self) -> None:
        """End the process, without waiting for its clients."""
        self._process.kill()
        self._process.wait()
        self._log.close()

    def next_name(self, kind: str) -> str:
        return f"{kind}-{next(self._numbers)}"

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            fields = json.loads(line)
            future = self._waiting.pop(fields.pop("id"))
            if fields.pop("unsupported", False):
                future.set_exception(UnsupportedByClientError(self.name))
            else:
                code = fields.pop("code", None)
                future.set_result(Answer(code=None if code is None else ErrorCode(code).name, **fields))
        while self._waiting:
            _, future = self._waiting.popitem()
            future.set_exception(ClientFailedError(f"the driver of {self.name} has ended: {self._said()}"))

    def _said(self) -> str:
        if self._log.closed:
            return "it was closed"
        self._log.seek(0)
        return last(self._log.read())


class _Handle:
    """A consumer or producer in a driver."""

    def __init__(self, client: Client, kind: str, options: Mapping[str, Any]) -> None:
        self.client = client
        self.name = client.next_name(kind)
        made = self._ask(kind, **options)
        if made.error:
            raise ClientFailedError(f"{client.name} cannot make a {kind}: {made.error}: {made.text}", made)

    def metadata(self, topic: str, *, seconds: float = 10.0) -> Answer:
        """Return the number of partitions of a topic."""
        return self._ask("metadata", seconds=seconds, topic=topic)

    def close(self, *, seconds: float = 5.0) -> Answer:
        return self._ask("close", seconds=seconds)

    def later(self, do: str, *, seconds: float = 10.0, **options: Any) -> Future[Answer]:
        """Send a command, such as poll or commit, without waiting for the answer."""
        return self.client.later(do, self.name, seconds=seconds, **options)

    def _ask(self, do: str, *, seconds: float = 10.0, **options: Any) -> Answer:
        return self.client.result(do, self.later(do, seconds=seconds, **options), seconds)


class ConsumerHandle(_Handle):
    def assign(self, *partitions: tuple[str, int, int]) -> Answer:
        """Assign partitions, each with the offset where to start; for a consumer without topics."""
        return self._ask("assign", partitions=partitions)

    def poll(self, count: int = 1, *, seconds: float = 10.0) -> Answer:
        """Return up to ``count`` rows of topic, partition, offset and value, also those before an error."""
        return self._ask("poll", count=count, seconds=seconds)

    def commit(self, *, seconds: float = 10.0) -> Answer:
        """Commit the offsets after the polled records, and wait for the response."""
        return self._ask("commit", seconds=seconds)

    def position(self, topic: str, partition: int = 0, *, seconds: float = 10.0) -> Answer:
        return self._ask("position", topic=topic, partition=partition, seconds=seconds)

    def committed(self, topic: str, partition: int = 0, *, seconds: float = 10.0) -> Answer:
        """Return the committed offset, or None."""
        return self._ask("committed", topic=topic, partition=partition, seconds=seconds)


class ProducerHandle(_Handle):
    def send(self, topic: str, value: str, *, partition: int = 0, seconds: float = 10.0) -> Answer:
        """Send a record and wait for its delivery; return its offset."""
        return self._ask("send", topic=topic, partition=partition, value=value, seconds=seconds)

    def init(self, *, seconds: float = 10.0) -> Answer:
        return self._ask("init", seconds=seconds)

    def begin(self) -> Answer:
        return self._ask("begin")

    def send_offsets(self, consumer: ConsumerHandle, *, seconds: float = 10.0) -> Answer:
        """Add the offsets after the records of the consumer's last poll to the transaction."""
        return self._ask("send_offsets", consumer=consumer.name, seconds=seconds)

    def end(self, *, commit: bool, seconds: float = 10.0) -> Answer:
        """Commit or abort the transaction; return whether it was committed."""
        return self._ask("end", commit=commit, seconds=seconds)


@cache
def driver(name: str) -> tuple[str, ...]:
    """Return the command that starts a driver, built below ``.work`` once per process. Raise InteropError."""
    builders: dict[str, Callable[[Path], Sequence[str]]] = {
        "kafka-python": lambda _: (sys.executable, "-m", "tests.testkit.clients.drivers.kafka_python"),
        "aiokafka": lambda _: (sys.executable, "-m", "tests.testkit.clients.drivers.aio_kafka"),
        "confluent-kafka": lambda _: (sys.executable, "-m", "tests.testkit.clients.drivers.confluent"),
        "java": lambda work: Java.of("clients", work)
        .compiled([DRIVERS / "Driver.java"], work / "classes")
        .command("Driver"),
        "franz-go": lambda work: (built_go(DRIVERS, work / "driver"),),
    }
    WORK.mkdir(parents=True, exist_ok=True)
    return tuple(builders[name](WORK))
