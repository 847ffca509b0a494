"""Messages by the words of a command line: names, without regard to case, and versions."""

from __future__ import annotations

from .._core.value import dataclass
from ._options import MOST_DIGITS, NotFoundError, UsageError, meant

_NO_VERSION = 32768


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, without importing it."""

    name: str
    kind: str
    key: int | None
    """API key, record type or key version."""
    lowest: int
    highest: int
    flexible: int
    """First version with tagged fields and compact lengths; 32768 for none."""
    headers: tuple[tuple[int, int], ...]
    """Header versions as (first version of the message, version of the header)."""

    @property
    def versions(self) -> str:
        return f"{self.lowest}" if self.lowest == self.highest else f"{self.lowest}-{self.highest}"

    @property
    def flexible_versions(self) -> str:
        return "none" if self.flexible == _NO_VERSION or self.flexible > self.highest else f"{self.flexible}+"

    @property
    def header_versions(self) -> str:
        """``1, from 9 on 2``."""
        first, *later = self.headers or ((0, -1),)
        if first[1] < 0:
            return ""
        return ", ".join([str(first[1]), *(f"from {version} on {header}" for version, header in later)])


def entries() -> list[Entry]:
    """Every message of the package, by name."""
    from ._tables import MESSAGES

    return [Entry(*row) for row in MESSAGES]


def entry(word: str) -> Entry:
    """The message with a name, in any case. Raises NotFoundError."""
    known = entries()
    wanted = word.lower()
    for each in known:
        if each.name.lower() == wanted:
            return each
    if of_api := _of_api(word, known):
        raise NotFoundError(f"no message is called {word!r}; there are {' and '.join(each.name for each in of_api)}")
    raise NotFoundError(f"no message is called {word!r}{meant(word, [each.name for each in known])}")


def entries_of(word: str) -> list[Entry]:
    """The message with a name, or request and response of the API with a name or a key. Raises NotFoundError."""
    return _of_api(word, entries()) or [entry(word)]


def _of_api(word: str, known: list[Entry]) -> list[Entry]:
    wanted = word.lower()
    kinds = [each for each in known if each.kind in ("request", "response")]
    key = int(word) if word.isascii() and word.isdigit() and len(word) < 6 else -1
    return [each for each in kinds if each.key == key or each.name.lower() == f"{wanted}{each.kind}"]


def is_version(word: str) -> bool:
    """Whether a word is meant as a version; longer digits are hex."""
    number = word.removeprefix("v")
    return word == "latest" or (number.isdigit() and len(number) < 4)


def version_of(found: Entry, word: str) -> int:
    """A version of a message; ``latest`` is the highest. Raises UsageError, and NotFoundError."""
    if word == "latest":
        return found.highest
    number = word.removeprefix("v")
    if not (number.isascii() and number.isdigit()):
        raise UsageError(f"{word!r} is no version; {found.name} has {found.versions}")
    if len(number) > MOST_DIGITS or not found.lowest <= int(number) <= found.highest:
        raise NotFoundError(f"{found.name} has no version {number}, only {found.versions}")
    return int(number)
