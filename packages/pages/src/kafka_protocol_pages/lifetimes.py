"""Lifetimes of messages, versions, fields and error codes in Kafka's releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kafka_message_generator.compat.availability import Availability
from kafka_message_generator.compat.changes import Changes, changes
from kafka_message_generator.compat.definition_sets import release_sets
from kafka_message_generator.compat.store import CodeLifetime, read_error_codes
from kafka_message_generator.definitions import Definitions
from kafka_message_generator.render.availability import availability_of, since_words, today_of

FOLDER = "releases"


@dataclass(frozen=True)
class Release:
    name: str
    is_first: bool = False
    """True for the oldest known release; what it contains may be older."""
    is_later: bool = False
    """True if the version is older than this release, which is the first to define it."""

    @property
    def link(self) -> str:
        return f"{FOLDER}/{self.name}.html"

    @property
    def label(self) -> str:
        return f"{'<' if self.is_later else '≤' if self.is_first else ''}{self.name}"

    @property
    def since(self) -> str:
        return since_words(self.name, self.is_first, self.is_later)


@dataclass(frozen=True)
class Lifetime:
    """The release that added a message, version, field or error code, and the release that removed it."""

    since: Release | None = None
    until: Release | None = None
    gaps: tuple[Release, ...] = ()
    """Releases without it between ``since`` and ``until``."""
    unstable: Release | None = None
    """The first release that has a version as unstable, if it is older than ``since``."""

    @property
    def title(self) -> str:
        if self.since is None:
            return ""
        words = [f"since {self.since.since}", *(f"not in Kafka {each.name}" for each in self.gaps)]
        if self.unstable is not None:
            words[:1] = [f"stable {words[0]}", f"unstable since Kafka {self.unstable.name}"]
        return ", ".join([*words, *([f"until Kafka {self.until.name}"] if self.until is not None else [])])


UNKNOWN = Lifetime()


@dataclass(frozen=True)
class Lifetimes:
    """All lifetimes; unknown for definitions without a history."""

    found: Availability | None = None
    codes: Mapping[str, CodeLifetime] = field(default_factory=dict)
    """Lifetimes of error codes by name."""

    @property
    def is_known(self) -> bool:
        return self.found is not None

    def code(self, number: int) -> Lifetime:
        """Return the lifetime of an error code, from the first release with its oldest name."""
        if self.found is None:
            return UNKNOWN
        first = (
            self.found.releases.index(lifetime.first) for lifetime in self.codes.values() if lifetime.code == number
        )
        return self._lifetime(min(first, default=None), None)

    def former_names(self, number: int) -> tuple[str, ...]:
        return tuple(
            name for name, lifetime in self.codes.items() if lifetime.code == number and lifetime.removed is not None
        )

    def version(self, message: str, version: int) -> Lifetime:
        if self.found is None:
            return UNKNOWN
        gaps = self.found.gaps(message, version)
        since = self.found.first(message, version)
        is_later = self.found.is_older(message, (version,), since)
        found = self._lifetime(since, self.found.until(message, version), gaps, is_later)
        return replace(found, unstable=self._release(self.found.unstable.get(message, {}).get(version)))

    def message(self, message: str, versions: Iterable[int]) -> Lifetime:
        return self.field(message, "", versions)

    def field(self, message: str, path: str, versions: Iterable[int]) -> Lifetime:
        if self.found is None:
            return UNKNOWN
        known = list(versions)
        since, until = self.found.field(message, path, known)
        return self._lifetime(since, until, is_later=self.found.is_older(message, known, since))

    def _lifetime(
        self, since: int | None, until: int | None, gaps: Iterable[int] = (), is_later: bool = False
    ) -> Lifetime:
        missing = (self._release(number) for number in gaps)
        return Lifetime(self._release(since, is_later), self._release(until), distinct(missing))

    def _release(self, number: int | None, is_later: bool = False) -> Release | None:
        if number is None or self.found is None:
            return None
        return Release(self.found.releases[number], number == 0, is_later)


NOTHING = Lifetimes()


@dataclass(frozen=True)
class Past:
    lifetimes: Lifetimes = NOTHING
    changes: tuple[Changes, ...] = ()
    """Changes of each release, oldest release first."""


def past_of(definitions: Definitions) -> Past:
    """Read the history of the definitions. Raises HistoryError and SpecError."""
    found = availability_of(definitions)
    if found is None or definitions.history is None:
        return Past()
    codes = read_error_codes(definitions.history)
    sets = list(release_sets(definitions.history))
    return Past(Lifetimes(found, codes), tuple(changes(found, sets, today_of(definitions), codes)))


def distinct(releases: Iterable[Release | None]) -> tuple[Release, ...]:
    return tuple(dict.fromkeys(each for each in releases if each is not None))
