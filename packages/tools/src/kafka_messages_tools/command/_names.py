"""Lookup of messages and versions by command line arguments."""

from __future__ import annotations

from ..text import suggestion
from ._errors import InputError, NotFoundError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from kafka_messages import MessageInfo

    from ..package import Package

    T = TypeVar("T")

# Maximum digits of a version.
MOST_DIGITS = 18


def entries_of(package: Package, word: str, otherwise: str = "") -> list[MessageInfo]:
    """Return the request and response of an API, or the message of this name. Raises NotFoundError with a hint."""
    if found := known_as(package, word):
        return found
    hint = suggestion(word, [each.name for each in package.root.all_messages()]) or otherwise
    raise NotFoundError(f"unknown message {word!r}{hint}")


def known_as(package: Package, word: str) -> list[MessageInfo]:
    """Return the same messages as ``entries_of``, or an empty list."""
    known, wanted = package.root.all_messages(), word.lower()
    kinds = [each for each in known if each.kind in ("request", "response")]
    of_api = [each for each in kinds if str(each.api_key) == word or each.name.lower() == f"{wanted}{each.kind}"]
    return of_api or [each for each in known if each.name.lower() == wanted]


def only_fitting(found: list[MessageInfo], fit: Callable[[MessageInfo], T]) -> tuple[MessageInfo, T]:
    """Return the only message for which ``fit`` raises no ValueError, and its result.

    Raises UsageError if several messages fit, InputError if none of several fits, and the error of a single message.
    """
    if len(found) == 1:
        return found[0], fit(found[0])
    fitting, problems = [], []
    for each in found:
        try:
            fitting.append((each, fit(each)))
        except ValueError as error:
            problems.append(str(error))
    if not fitting:
        raise InputError(f"the input is neither {' nor '.join(each.name for each in found)}: {'; '.join(problems)}")
    if len(fitting) > 1:
        raise UsageError(f"the input fits several messages; specify {' or '.join(each.name for each, _ in fitting)}")
    return fitting[0]


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
