"""Since which release of Kafka messages, versions and fields are there, as pages show it, with links to the releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka_message_generator.compat.availability import Availability
from kafka_message_generator.compat.changes import Changes, changes
from kafka_message_generator.compat.definition_sets import release_sets
from kafka_message_generator.compat.store import CodeLifetime, read_error_codes
from kafka_message_generator.definitions import Definitions
from kafka_message_generator.render.availability import availability_of, since_words, today_of

FOLDER = "releases"


@dataclass(frozen=True)
class Release:
    """A release as cells of tables name it."""

    name: str
    is_first: bool = False
    """Whether it is the first that is known, so that what it has may be older."""
    is_later: bool = False
    """Whether it has the first definition of what is older."""

    @property
    def link(self) -> str:
        return f"{FOLDER}/{self.name}.html"

    @property
    def shown(self) -> str:
        """For narrow cells."""
        return f"{'<' if self.is_later else '≤' if self.is_first else ''}{self.name}"

    @property
    def since(self) -> str:
        return since_words(self.name, self.is_first, self.is_later)


@dataclass(frozen=True)
class Lifetime:
    """The first release that has something, and the first that does not have it any more."""

    since: Release | None = None
    until: Release | None = None
    gaps: tuple[Release, ...] = ()
    """Releases between them that do not have it."""

    @property
    def title(self) -> str:
        """In words; empty for what no release has."""
        if self.since is None:
            return ""
        words = [f"since {self.since.since}", *(f"not in Kafka {each.name}" for each in self.gaps)]
        return ", ".join([*words, *([f"until Kafka {self.until.name}"] if self.until is not None else [])])


UNKNOWN = Lifetime()
"""Of what no release is known to have."""


@dataclass(frozen=True)
class Lifetimes:
    """What is known of releases; of a package without a history nothing is."""

    found: Availability | None = None
    codes: Mapping[str, CodeLifetime] = field(default_factory=dict)
    """Error codes by their names."""

    @property
    def is_known(self) -> bool:
        """Whether there is a history."""
        return self.found is not None

    def code(self, number: int) -> Lifetime:
        """Of an error code that the newest release has, under whatever name it began with."""
        if self.found is None:
            return UNKNOWN
        first = (
            self.found.releases.index(lifetime.first) for lifetime in self.codes.values() if lifetime.code == number
        )
        return self._lifetime(min(first, default=None), None)

    def former_names(self, number: int) -> tuple[str, ...]:
        """What releases called an error code that call it something else now."""
        return tuple(
            name for name, lifetime in self.codes.items() if lifetime.code == number and lifetime.last is not None
        )

    def version(self, message: str, version: int) -> Lifetime:
        """Of a version of a message."""
        if self.found is None:
            return UNKNOWN
        gaps = self.found.gaps(message, version)
        since = self.found.first(message, version)
        is_later = self.found.is_older(message, (version,), since)
        return self._lifetime(since, self.found.until(message, version), gaps, is_later)

    def message(self, message: str, versions: Iterable[int]) -> Lifetime:
        """Of a message with these versions."""
        return self.field(message, "", versions)

    def field(self, message: str, path: str, versions: Iterable[int]) -> Lifetime:
        """Of a field that stands in these versions."""
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
"""Of definitions without a history."""


@dataclass(frozen=True)
class Past:
    """What the history of the definitions says; nothing where they have none."""

    lifetimes: Lifetimes = NOTHING
    changes: tuple[Changes, ...] = ()
    """Of every release, from the oldest to the newest."""


def past_of(definitions: Definitions) -> Past:
    """Read the history beside the definitions. Raises HistoryError and SpecError."""
    found = availability_of(definitions)
    if found is None or definitions.history is None:
        return Past()
    codes = read_error_codes(definitions.history)
    sides = list(release_sets(definitions.history))
    return Past(Lifetimes(found, codes), tuple(changes(found, sides, today_of(definitions), codes)))


def distinct(releases: Iterable[Release | None]) -> tuple[Release, ...]:
    """Each release once, in their order."""
    return tuple(dict.fromkeys(each for each in releases if each is not None))
