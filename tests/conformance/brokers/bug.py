"""Brokers with one bug each: the cluster of the test kit with a rule, or with a relay before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias

from kafka_messages import Message, Request
from kafka_messages.protocol import api
from kafka_messages_testkit import KafkaCluster
from kafka_records import Batch, Record, RecordError, read_batches, write_batch

from .relay import Address, BrokerRelay, serving

Change: TypeAlias = Callable[..., None]
"""Changes a request before the broker acts; or a response, of which it gets the request first."""


@dataclass(frozen=True)
class BrokerBug:
    """A bug, and the cases that find it."""

    ids: tuple[str, ...]
    """All cases of a default run that fail, apart from those that the unmodified cluster fails."""
    rules: tuple[tuple[type[Message], Change], ...] = ()
    relay: type[BrokerRelay] | None = None
    report: str = ""
    """Report of an implementation with this bug."""
    brokers: int = 1
    is_proxy: bool = False
    """True if responses may have the addresses of the brokers only."""

    @contextmanager
    def serve(self) -> Iterator[tuple[Address, list[Address]]]:
        """Serve the broker; return its address, and the addresses that responses may have."""
        with KafkaCluster(self.brokers, topics={"another": 1}) as cluster:
            for cls, change in self.rules:
                add_rule(cluster, cls, change)
            pairs = [each.rpartition(":") for each in cluster.bootstrap_servers.split(",")]
            addresses = [(host, int(port)) for host, _, port in pairs]
            expected = addresses if self.is_proxy else []
            if self.relay is None:
                yield addresses[0], expected
            else:
                with serving(self.relay, addresses[0]) as address:
                    yield address, expected


def add_rule(cluster: KafkaCluster, cls: type[Message], change: Change) -> None:
    """Change all requests or responses of a class."""
    if issubclass(cls, Request):
        cluster.on(cls, times=None, optional=True).respond(lambda request: change(request))
        return

    def changed(request: Any, response: Any) -> Any:
        change(request, response)
        return response

    cluster.on(api(cls).request_class, times=None, optional=True).change(changed)


def structs(value: Any) -> Iterator[Any]:
    """Yield a message and the structs in it."""
    if isinstance(value, list):
        for each in value:
            yield from structs(each)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from structs(getattr(value, field.name))


def sets(**changes: Any) -> Change:
    """Return a change of fields, wherever they are: a dict from old to new values, or a function."""

    def change(*messages: Any) -> None:
        for struct in structs(messages[-1]):
            for name, new in changes.items():
                if hasattr(struct, name):
                    old = getattr(struct, name)
                    setattr(struct, name, new(old) if callable(new) else new.get(old, old))

    return change


def constant(value: Any) -> Callable[[Any], Any]:
    return lambda old: value


def batches(change: Callable[[Batch], bytes]) -> Change:
    """Return a change of the batches in a Produce request; invalid ones and control batches stay."""

    def changed(data: bytes | None) -> bytes | None:
        try:
            found = list(read_batches(data or b""))
            return b"".join(each.data if each.is_control else change(each) for each in found)
        except RecordError:
            return data

    return sets(records=changed)


def rewritten(batch: Batch, change: Callable[[Record], Record] | None = None, **numbers: Any) -> bytes:
    """Return a batch with changed records, or other numbers of its producer."""
    kept = ("compression", "producer_id", "producer_epoch", "base_sequence", "is_transactional")
    records = [change(each) if change else each for each in batch.records()]
    return write_batch(records, **{name: getattr(batch, name) for name in kept} | numbers)


def records(change: Callable[[Record], Record]) -> Change:
    """Return a change of the records in a Produce request."""
    return batches(lambda batch: rewritten(batch, change))


BUGS: dict[str, BrokerBug] = {}


def rule(name: str, cls: type[Message], change: Change, *ids: str, **options: Any) -> None:
    """Add a bug of the cluster with a rule."""
    BUGS[name] = BrokerBug(ids, ((cls, change),), **options)


def relay(name: str, kind: type[BrokerRelay], *ids: str, **options: Any) -> None:
    """Add a bug of a relay before the cluster."""
    BUGS[name] = BrokerBug(ids, relay=kind, **options)
