"""Since which release of Kafka versions and fields are there, and until which one, as far as the package knows it."""

from __future__ import annotations

from .._core.value import dataclass
from ._parts import has_part, part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._layouts import Row


@dataclass(frozen=True, slots=True)
class Life:
    """The first release that has something, and the first that does not have it any more."""

    since: str | None
    until: str | None
    gaps: tuple[str, ...] = ()
    """Releases between them that do not have it."""
    is_older: bool = False
    """Whether ``since`` has the first definition of what is older."""

    @property
    def shown(self) -> str:
        """The first release, for narrow cells: ``<4.4.0`` is older than the release."""
        return "" if self.since is None else f"{'<' if self.is_older else ''}{self.since}"

    @property
    def words(self) -> str:
        """``since Kafka 2.2.0 or before, until 4.0.0``; empty for what no release has."""
        if self.since is None:
            return ""
        is_first = self.since == part("history").RELEASES[0]
        begins = f"Kafka {self.since} or before" if is_first else f"Kafka {self.since}"
        words = [f"since before Kafka {self.since}, which defines it first" if self.is_older else f"since {begins}"]
        words += [f"not in {', '.join(self.gaps)}"] if self.gaps else []
        words += [f"until {self.until}"] if self.until is not None else []
        return ", ".join(words)

    def to_object(self) -> dict[str, object]:
        """As JSON has it."""
        return {"since": self.since, "until": self.until, "not_in": list(self.gaps), "is_older": self.is_older}


def is_known(message: str) -> bool:
    """Whether the package knows releases, and one of them has the message."""
    return has_part("history") and message in part("history").RUNS


def of_version(message: str, version: int) -> Life:
    """Of a version of a message that is known."""
    history = part("history")
    first, last, missing = (ask(message, version) for ask in (history.since, history.until, history.gaps))
    return Life(first, last, missing, history.is_older(message, version))


def in_version(row: Row, version: int) -> Life:
    """Of a field in one version, which has it."""
    history, name = part("history"), row.message.name
    since = history.field_since(name, row.path, version)
    is_older = since == history.since(name, version) and history.is_older(name, version)
    return Life(since, history.until(name, version), history.gaps(name, version), is_older)


def in_versions(row: Row, versions: Iterable[int]) -> Life:
    """Of a field in several versions: the first release that has one of them, and the first that has none any more."""
    order = part("history").RELEASES.index
    lives = [life for version in versions if (life := in_version(row, version)).since is not None]
    since = min((life.since for life in lives if life.since is not None), key=order, default=None)
    until = [life.until for life in lives if life.until is not None]
    gaps = set.intersection(*(set(life.gaps) for life in lives)) if lives else set()
    last = max(until, key=order) if until and len(until) == len(lives) else None
    is_older = any(life.is_older for life in lives if life.since == since)
    return Life(since, last, tuple(sorted(gaps, key=order)), is_older)


def runs(row: Row, versions: Iterable[int]) -> list[tuple[int, int, Life]]:
    """First and last version and the life of a field, of versions in which that is one."""
    found: list[tuple[int, int, Life]] = []
    for version in versions:
        life = in_version(row, version)
        if found and found[-1][1:] == (version - 1, life):
            found[-1] = (found[-1][0], version, life)
        else:
            found.append((version, version, life))
    return found
