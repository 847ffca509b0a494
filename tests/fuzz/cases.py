"""Cases for messages: each raises Difference if the outcomes of core and pure code differ."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from kafka_messages.testing import damaged

import kafka_messages_native as core
from tests.fuzz import damage
from tests.support import random_messages, vectors
from tests.support.implementations import LEFT, Outcome, bare_calls, opened, outcome, structs_in

PROPOSALS = random_messages.Package("kafka_messages_proposals")
LONGEST = 4000
"""Maximum size of a message; the few longer ones would dominate the running time."""


class Difference(Exception):
    """Core and pure code disagree."""


class Sample:
    """A message with bytes at one version."""

    def __init__(self, cls: Any, version: int, data: bytes) -> None:
        self.cls, self.version, self.data = cls, version, data
        self.package = random_messages.package_of(cls).module("_core.native")._package

    @property
    def bare(self) -> dict[str, Any]:
        """Return the native methods, which return LEFT here instead of calling the pure code."""
        return printed_calls(self)

    @property
    def owner(self) -> Any:
        return next(base for base in self.cls.__mro__ if "_plan" in vars(base))

    def plan_of(self, text: str) -> Any:
        assert opened(self.cls)
        return core.Plan(self.package, text, vars(sys.modules[self.cls.__module__]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and self.cls is other.cls

    def __hash__(self) -> int:
        return hash(self.cls)

    def __str__(self) -> str:
        return f"{self.cls.NAME} v{self.version}"


@cache
def printed_calls(sample: Sample) -> dict[str, Any]:
    """Return the native methods for the generated plan; all samples of a message share them."""
    return bare_calls(sample.cls, sample.plan_of(sample.owner._plan), sample.package)


@cache
def samples() -> Sequence[Sample]:
    """Return vectors of Kafka's classes, and random messages of specs/proposals."""
    found = [
        Sample(vector.cls, vector.version, vector.data)
        for group in vectors.committed().values()
        for vector in group
        if len(vector.data) <= LONGEST
    ]
    for name in PROPOSALS.message_names:
        cls = PROPOSALS.message(name)
        for version in random_messages.versions_of(cls):
            drawn = random_messages.messages(cls, version, mixed=3)
            found += [
                Sample(cls, version, data) for data in (each.write(version) for each in drawn) if len(data) <= LONGEST
            ]
    return found


def differ(what: str, got: Outcome, wanted: Outcome) -> Difference:
    return Difference(
        f"{what}\n  native: {got.kind.__name__}: {got.text}\n  pure:   {wanted.kind.__name__}: {wanted.text}"
    )


def compare(
    what: Callable[[], str], rnd: random.Random, counts: Counter[str], sample: Sample, name: str, *args: Any
) -> None:
    """Call the native and the pure method; raise Difference if the outcomes differ.

    If the core declines a call, both outcomes come from the pure method, so only one in eight is compared.
    """
    got = outcome(sample.bare[name], *args)
    counts[name] += 1
    if got.value is LEFT:
        counts[f"{name} left to the pure code"] += 1
        if rnd.random() > 0.125:
            return
        got = outcome(getattr(sample.cls, name), *args)
    wanted = outcome(getattr(sample.cls, name).__wrapped__, *args)
    counts[f"{name} with an error compared"] += wanted.is_error
    if got != wanted:
        raise differ(f"{sample}: {name} of {what()}", got, wanted)


def read(rnd: random.Random, counts: Counter[str]) -> None:
    """Read damaged bytes, whole or from an offset, from any kind of buffer."""
    sample = rnd.choice(samples())
    data, version = damaged(rnd, sample.data), sample.version
    if rnd.random() < 0.05:
        version = rnd.randrange(-1, version + 3)
    if rnd.random() < 0.1:
        offset = rnd.choice((0, 1, 3, 3, 3, len(data), len(data) + 4, -1))
        buffer = damage.buffer_of(rnd, bytes(3) + data)
        compare(lambda: f"{data.hex()} from {offset}", rnd, counts, sample, "read_from", buffer, offset, version)
    else:
        compare(data.hex, rnd, counts, sample, "read", damage.buffer_of(rnd, data), version)


def write(rnd: random.Random, counts: Counter[str]) -> None:
    """Write and measure a message with wrong values in some fields, at any version."""
    sample = rnd.choice(samples())
    message = sample.cls.read(sample.data, sample.version)
    structs = list(structs_in(message))
    others = [getattr(struct, name) for struct in structs for name in struct._names]
    for _ in range(rnd.choice((1, 1, 1, 2))):
        struct = rnd.choice(structs)
        put(rnd, struct, rnd.choice(struct._names), others, sample)
    version = sample.version if rnd.random() < 0.7 else rnd.choice(random_messages.versions_of(sample.cls))
    for name in ("write", "size"):
        compare(lambda: f"{slot_reprs(message)} at {version}", rnd, counts, sample, name, message, version)


def put(rnd: random.Random, struct: Any, name: str, others: list[Any], sample: Sample) -> None:
    """Assign another value to a field, delete it, or replace a list element."""
    old = getattr(struct, name, None)
    if name == "unknown_tagged_fields" and rnd.random() < 0.9:
        raw = sys.modules[f"{sample.cls.__module__.partition('.')[0]}._core.wire"].RawTaggedField
        struct.unknown_tagged_fields = damage.unknown_fields(rnd, raw)
    elif isinstance(old, list) and old and rnd.random() < 0.5:
        old[rnd.randrange(len(old))] = damage.value(rnd, others)
    elif rnd.random() < 0.03 and name in getattr(type(struct), "__slots__", ()) and hasattr(struct, name):
        delattr(struct, name)
    else:
        setattr(struct, name, damage.value(rnd, others))


def construct(rnd: random.Random, counts: Counter[str]) -> None:
    """Call a constructor with wrong values, unknown names or positional arguments."""
    sample = rnd.choice(samples())
    struct = rnd.choice(list(structs_in(sample.cls.read(sample.data, sample.version))))
    cls, names = type(struct), list(struct._names)
    others = [getattr(struct, name) for name in names]
    given = {name: getattr(struct, name) for name in rnd.sample(names, rnd.randrange(len(names) + 1))}
    for name in rnd.sample(names, min(len(names), rnd.choice((1, 1, 2)))):
        given[name] = damage.value(rnd, others)
    if rnd.random() < 0.05:
        given[rnd.choice(("nothing", "", "self", names[0] + "_"))] = None
    arguments = (None,) if rnd.random() < 0.02 else ()
    got, wanted = outcome(cls, *arguments, **given), outcome(type.__call__, cls, *arguments, **given)
    if got != wanted:
        raise differ(f"{cls.__name__}{arguments} with {given!r}", got, wanted)
    counts["construct"] += 1
    counts["construct with an error compared"] += wanted.is_error


def plan(rnd: random.Random, counts: Counter[str]) -> None:
    """Check that a damaged plan raises ValueError or TypeError, or reads and writes without a crash."""
    sample = rnd.choice(samples())
    text = damage.plan_text(rnd, sample.owner._plan)
    counts["plan"] += 1
    try:
        calls = bare_calls(sample.cls, sample.plan_of(text), sample.package)
    except (ValueError, TypeError):
        counts["plan refused"] += 1
        return
    for number in range(6):
        data = sample.data if number == 0 else damaged(rnd, sample.data)
        message = calls["read"](data, sample.version)
        if message is not LEFT:
            assert type(message) is sample.cls
            repr(list(map(slot_reprs, structs_in_slots(message))))
            calls["write"](message, sample.version)
            calls["size"](message, sample.version)
        calls["read_from"](bytes(1) + data, 1, sample.version)


def structs_in_slots(message: Any) -> list[Any]:
    """Return a message and its nested structs; finds them in slots, as a damaged plan sets fields to wrong types."""
    found, last = [], [message]
    while last:
        found += last
        values = [getattr(struct, name, None) for struct in last for name in slots(type(struct))]
        flat = [each for one in values for each in (one if isinstance(one, list) else [one])]
        last = [each for each in flat if hasattr(type(each), "_names")]
    return found


def slots(cls: type) -> list[str]:
    return [name for base in cls.__mro__ for name in getattr(base, "__slots__", ())]


def slot_reprs(struct: Any) -> list[str]:
    return [repr(getattr(struct, name, None)) for name in slots(type(struct))]


CASES: Sequence[tuple[Callable[[random.Random, Counter[str]], None], int]] = (
    (read, 20),
    (write, 5),
    (construct, 2),
    (plan, 1),
)
"""Cases and their weights."""
