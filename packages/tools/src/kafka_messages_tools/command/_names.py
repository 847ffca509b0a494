"""Lookup of messages and versions by command line arguments."""

from __future__ import annotations

from .._text import suggestion
from ._errors import NotFoundError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages import MessageInfo

    from ..package import Package

# Maximum digits of a version.
MOST_DIGITS = 18


def entry(package: Package, word: str) -> MessageInfo:
    known = package.root.all_messages()
    wanted = word.lower()
    for each in known:
        if each.name.lower() == wanted:
            found: MessageInfo = each
            return found
    if of_api := _of_api(word, known):
        raise NotFoundError(f"unknown message {word!r}; expected {' or '.join(each.name for each in of_api)}")
    raise NotFoundError(f"unknown message {word!r}{suggestion(word, [each.name for each in known])}")


def entries_of(package: Package, word: str) -> list[MessageInfo]:
    """Return the request and response of an API by name or key, or the message of this name. Raises NotFoundError."""
    return _of_api(word, package.root.all_messages()) or [entry(package, word)]


def _of_api(word: str, known: tuple[MessageInfo, ...]) -> list[MessageInfo]:
    wanted = word.lower()
    kinds = [each for each in known if each.kind in ("request", "response")]
    key = int(word) if word.isascii() and word.isdigit() and len(word) < 6 else -1
    return [each for each in kinds if each.api_key == key or each.name.lower() == f"{wanted}{each.kind}"]


def flexible_versions(info: MessageInfo) -> str:
    return f"{info.flexible_versions.lowest}+" if info.flexible_versions else "none"


def headers_of(package: Package, info: MessageInfo) -> tuple[tuple[int, int], ...]:
    """Return pairs of a message version and the header version used from this version on; empty without a header."""
    return info.header_versions if package.has("protocol") else ()


def header_versions(package: Package, info: MessageInfo) -> str:
    runs = headers_of(package, info)
    texts = [f"{header} from version {first}" if at else f"{header}" for at, (first, header) in enumerate(runs)]
    return ", ".join(texts)


def is_version(word: str) -> bool:
    """Check for ``latest``, ``13`` or ``v13``; numbers of more than 3 digits are hex."""
    number = word.removeprefix("v")
    return word == "latest" or (number.isdigit() and len(number) < 4)


def version_of(found: MessageInfo, word: str) -> int:
    """Return a version of a message; ``latest`` is the highest. Raises UsageError and NotFoundError."""
    valid = found.valid_versions
    if word == "latest":
        return valid.highest
    number = word.removeprefix("v")
    if not (number.isascii() and number.isdigit()):
        raise UsageError(f"{word!r} is not a version; {found.name} has {valid}")
    if len(number) > MOST_DIGITS or int(number) not in valid:
        raise NotFoundError(f"{found.name} has no version {number}, only {valid}")
    return int(number)
