"""Lowering of the release history to tables and a docstring sentence per message."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.compat.availability import Availability, Today, availability
from kafka_message_generator.compat.definition_sets import release_sets
from kafka_message_generator.compat.store import read_error_codes, read_older
from kafka_message_generator.definitions import Definitions

Row = tuple[int, int, int, int]


@dataclass(frozen=True)
class AvailabilityTable:
    """Data of ``history/_tables.py``."""

    releases: tuple[str, ...] = ()
    listeners: tuple[tuple[str, ...], ...] = ((),)
    runs: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    late: tuple[tuple[str, dict[str, int]], ...] = ()
    error_codes: tuple[tuple[str, tuple[int, int | None, int]], ...] = ()
    older: tuple[tuple[str, tuple[int, int]], ...] = ()
    unstable: tuple[tuple[str, dict[int, int]], ...] = ()


def availability_of(definitions: Definitions) -> Availability | None:
    """Return the availability of all messages, or None without a history. Raises HistoryError and SpecError."""
    if definitions.history is None:
        return None
    sets = list(release_sets(definitions.history))
    return availability(sets, today_of(definitions), read_older(definitions.history))


def today_of(definitions: Definitions) -> Today:
    plans = {plan.name: plan for plan in definitions.plans}
    return {message.name: (message, plans[message.name]) for message in definitions.messages if message.name in plans}


def table(definitions: Definitions, found: Availability | None) -> AvailabilityTable:
    if found is None or definitions.history is None:
        return AvailabilityTable()
    numbers = {release: number for number, release in enumerate(found.releases)}
    listeners = sorted({run.listeners for runs in found.runs.values() for run in runs})
    runs = (
        (
            name,
            tuple(
                (run.release, run.versions.lowest, run.versions.highest, listeners.index(run.listeners)) for run in runs
            ),
        )
        for name, runs in sorted(found.runs.items())
    )
    codes = (
        (
            name,
            (numbers[lifetime.first], None if lifetime.removed is None else numbers[lifetime.removed], lifetime.code),
        )
        for name, lifetime in sorted(read_error_codes(definitions.history).items())
    )
    older = ((name, (each.lowest, each.highest)) for name, each in sorted(found.older.items()) if name in found.runs)
    late = tuple(sorted(found.late.items()))
    unstable = tuple(sorted((name, dict(sorted(each.items()))) for name, each in found.unstable.items()))
    return AvailabilityTable(found.releases, tuple(listeners), tuple(runs), late, tuple(codes), tuple(older), unstable)


def since_words(release: str, is_first: bool, is_older: bool) -> str:
    if is_older:
        return f"before Kafka {release}, which defines it first"
    return f"Kafka {release} or before" if is_first else f"Kafka {release}"


def sentence(found: Availability | None, name: str) -> str:
    if found is None or name not in found.runs:
        return ""
    runs = [run for run in found.runs[name] if not run.versions.empty]
    unstable = min(found.unstable.get(name, {}).values(), default=None)
    if not runs:
        return (
            "In no release of Kafka yet." if unstable is None else f"Unstable since Kafka {found.releases[unstable]}."
        )
    first = runs[0].release
    is_older = found.is_older(name, runs[0].versions, first)
    text = f"Since {since_words(found.releases[first], first == 0, is_older)}"
    if unstable is not None and unstable < first:
        text = f"Stable since Kafka {found.releases[first]}, unstable since {found.releases[unstable]}"
    gone = [
        (version, last)
        for version in range(min(run.versions.lowest for run in runs), max(run.versions.highest for run in runs) + 1)
        if (last := found.until(name, version)) is not None
    ]
    if not gone:
        return f"{text}."
    end = found.releases[gone[-1][1]]
    if len({release for _, release in gone}) == 1 and found.runs[name][-1].versions.empty:
        return f"{text}, until {end}."
    versions = f"version {gone[0][0]}" if len(gone) == 1 else f"versions {gone[0][0]}-{gone[-1][0]}"
    return f"{text}; {versions} until {end}."
