"""Entry point of libFuzzer: an input is a message, or a plan with a message."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from tests.fuzz.cases import Sample, differ, samples, slot_reprs, structs_in_slots
from tests.support.implementations import LEFT, bare_calls, outcome

PLANS = 24
"""Number of messages whose plans are fuzzed; the input's second byte selects the message."""
READ, PLAN = 0, 1


@cache
def layouts() -> list[Sample]:
    """Return one sample per version of each message; two bytes of the input select the sample."""
    found = {(sample.cls, sample.version): sample for sample in samples()}
    return list(found.values())


@cache
def planned() -> list[Sample]:
    """Return samples of the messages whose plans have the most distinct words."""
    by_class = {sample.cls: sample for sample in samples()}
    return sorted(by_class.values(), key=lambda sample: -len(set(sample.owner._plan.split())))[:PLANS]


def corpus() -> list[bytes]:
    """Return the initial corpus."""
    places = {(sample.cls, sample.version): place for place, sample in enumerate(layouts())}
    reads = [
        bytes([READ]) + places[sample.cls, sample.version].to_bytes(2, "big") + sample.data
        for sample in samples()
        if len(sample.data) < 1000
    ]
    plans = [
        bytes([PLAN, place]) + sample.owner._plan.encode() + b"\xff" + bytes([sample.version]) + sample.data
        for place, sample in enumerate(planned())
    ]
    return reads + plans


def one(data: bytes) -> None:
    """Run one input; raise Difference if native and pure outcomes differ."""
    if data[:1] == bytes([READ]) and len(data) > 2:
        sample = layouts()[int.from_bytes(data[1:3], "big") % len(layouts())]
        read(sample, data[3:])
    elif data[:1] == bytes([PLAN]) and len(data) > 1:
        text, _, message = data[2:].partition(b"\xff")
        plan(planned()[data[1] % PLANS], text.decode(errors="replace"), message)


def read(sample: Sample, data: bytes) -> None:
    got = outcome(sample.bare["read"], data, sample.version)
    if got.value is LEFT:
        return
    wanted = outcome(sample.cls.read.__wrapped__, data, sample.version)
    if got != wanted:
        raise differ(f"{sample}: read of {data.hex()}", got, wanted)
    for name in ("write", "size"):
        got = outcome(sample.bare[name], wanted.value, sample.version)
        pure = outcome(getattr(sample.cls, name).__wrapped__, wanted.value, sample.version)
        if got.value is not LEFT and got != pure:
            raise differ(f"{sample}: {name} of what was read from {data.hex()}", got, pure)


def plan(sample: Sample, text: str, data: bytes) -> None:
    try:
        calls = bare_calls(sample.cls, sample.plan_of(text), sample.package)
    except (ValueError, TypeError):
        return
    version = data[0] if data else 0
    message = LEFT
    with suppress(TypeError):  # the changed plan makes another struct, which cannot become this class
        message = calls["read"](data[1:], version)
        calls["read_from"](data, 1, version)
    if message is not LEFT:
        repr(list(map(slot_reprs, structs_in_slots(message))))
        calls["write"](message, version)
        calls["size"](message, version)
