"""Availability of versions and fields in Kafka releases."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..package import Package
    from ._layouts import LayoutRow


class VersionLifetime(NamedTuple):
    """The first release with a version or field, and the first later release without it."""

    since: str | None
    until: str | None
    # Later releases before `until` that lack the version or field.
    gaps: tuple[str, ...] = ()
    # True if releases before `since` had the version or field in their code, but without a definition.
    is_older: bool = False
    # True if `since` is the oldest known release.
    is_first: bool = False
    # The first release that has the version as unstable, if it is older than `since`.
    unstable: str | None = None

    @property
    def label(self) -> str:
        return "" if self.since is None else f"{'<' if self.is_older else ''}{self.since}"

    @property
    def text(self) -> str:
        """Text such as ``since Kafka 2.2.0 or before, until 4.0.0``; empty if no release has the version."""
        if self.since is None:
            return "" if self.unstable is None else f"unstable since Kafka {self.unstable}"
        begins = f"since Kafka {self.since}" + (" or before" if self.is_first else "")
        if self.unstable is not None:
            begins = f"stable {begins}, unstable since {self.unstable}"
        words = [f"since before Kafka {self.since}, which defines it first" if self.is_older else begins]
        words += [f"not in {', '.join(self.gaps)}"] if self.gaps else []
        words += [f"until {self.until}"] if self.until is not None else []
        return ", ".join(words)

    def to_object(self) -> dict[str, object]:
        return {
            "since": self.since,
            "until": self.until,
            "not_in": list(self.gaps),
            "is_older": self.is_older,
            "unstable_since": self.unstable,
        }


class Releases:
    """Access to the optional component ``history`` of a package."""

    def __init__(self, package: Package) -> None:
        self._history = package.optional("history")

    def knows(self, message: str) -> bool:
        return self._history is not None and message in self._history.RUNS

    def lifetimes(self, message: str) -> str:
        return "; ".join(self._history.describe_lifetimes(message))

    def of_version(self, message: str, version: int) -> VersionLifetime:
        ask = self._history
        since, until, gaps = (each(message, version) for each in (ask.since, ask.until, ask.gaps))
        unstable = ask.unstable_since(message, version)
        return VersionLifetime(since, until, gaps, ask.is_older(message, version), since == ask.RELEASES[0], unstable)

    def in_version(self, row: LayoutRow, version: int) -> VersionLifetime:
        """Return the lifetime of a field in one message version."""
        ask, name = self._history, row.message.name
        since = ask.field_since(name, row.path, version)
        is_older = since == ask.since(name, version) and ask.is_older(name, version)
        unstable = ask.unstable_since(name, version) if since == ask.since(name, version) else None
        until, gaps, is_first = ask.until(name, version), ask.gaps(name, version), since == ask.RELEASES[0]
        return VersionLifetime(since, until, gaps, is_older, is_first, unstable)

    def in_versions(self, row: LayoutRow, versions: Iterable[int]) -> VersionLifetime:
        """Return the lifetime of a field in several message versions together."""
        order = self._history.RELEASES.index
        lifetimes = [lifetime for version in versions if (lifetime := self.in_version(row, version)).since is not None]
        since = min((lifetime.since for lifetime in lifetimes if lifetime.since is not None), key=order, default=None)
        until = [lifetime.until for lifetime in lifetimes if lifetime.until is not None]
        gaps = set.intersection(*(set(lifetime.gaps) for lifetime in lifetimes)) if lifetimes else set()
        last = max(until, key=order) if until and len(until) == len(lifetimes) else None
        is_older = any(lifetime.is_older for lifetime in lifetimes if lifetime.since == since)
        is_first = since == self._history.RELEASES[0]
        return VersionLifetime(since, last, tuple(sorted(gaps, key=order)), is_older, is_first)

    def runs(self, row: LayoutRow, versions: Iterable[int]) -> list[tuple[int, int, VersionLifetime]]:
        """Return first version, last version and lifetime of each range of versions with the same lifetime."""
        found: list[tuple[int, int, VersionLifetime]] = []
        for version in versions:
            lifetime = self.in_version(row, version)
            if found and found[-1][1:] == (version - 1, lifetime):
                found[-1] = (found[-1][0], version, lifetime)
            else:
                found.append((version, version, lifetime))
        return found
