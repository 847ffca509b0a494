"""Lifetimes of messages, versions, fields and error codes in Kafka's releases, from ``RELEASES[0]`` on."""

from __future__ import annotations

import re

from .._base._tables import MESSAGES
from .._base.listing import all_messages
from .._base.message import Message, class_of
from .._core.display import display
from .._core.structs import name_of
from .._core.versions import NO_VERSIONS, Versions, with_noun
from ..errors import did_you_mean
from ..schema.descriptors import descriptor_of
from ._tables import ERROR_CODES, KIPS, LATE_FIELDS, LISTENERS, OLDER, RELEASES, RUNS, UNSTABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from _typeshed import SupportsItems

    from .._base.listing import MessageInfo
    from ..schema.descriptors import FieldDescriptor

    AnyMessage = str | type[Message]

__all__ = [
    "RELEASES",
    "describe_lifetimes",
    "error_code_names",
    "error_code_since",
    "error_code_until",
    "field_since",
    "field_until",
    "fields_since",
    "gaps",
    "has_listeners",
    "is_older",
    "kips_of",
    "listeners_in",
    "missing_in",
    "release_of",
    "releases_with",
    "since",
    "unstable_since",
    "until",
    "versions_in",
    "versions_with_kip",
]

_in_array = re.compile(r"\[[0-9]*\]").sub


def release_of(release: str) -> str:
    """Return a known release; ``2.8`` means the newest 2.8.x. Raises ValueError, and TypeError for other types."""
    if not isinstance(release, str):
        raise TypeError(f"a release must be a str such as '2.8', not {display(release)}")
    if release in RELEASES:
        return release
    line = [each for each in RELEASES if each.startswith(f"{release}.")]
    if line:
        return line[-1]
    major = release.split(".")[0]
    alike = did_you_mean(release, [each for each in RELEASES if each.split(".")[0] == major])  # not 3.5.0 for 5.0
    known = f"which has {RELEASES[0]} to {RELEASES[-1]}"
    raise ValueError(f"Kafka {display(release)} is not in the history of this package, {known}{alike}")


def versions_in(release: str, message: AnyMessage) -> Versions:
    """Return the stable versions of a message in a release, an empty range if there are none.

    Raises ValueError for an unknown release or message.
    """
    number = RELEASES.index(release_of(release))
    found = NO_VERSIONS
    for first, lowest, highest, _ in _runs(message):
        if first <= number:
            found = Versions(lowest, highest)
    return found


def listeners_in(release: str, request: AnyMessage) -> tuple[str, ...]:
    """Return the listeners of a request in a release: ``zkBroker`` (the only one before 2.8), ``broker``, ``controller``.

    Empty for releases without the request, and for other messages. Raises ValueError for an unknown release or message.
    """
    number = RELEASES.index(release_of(release))
    found: tuple[str, ...] = ()
    for first, lowest, highest, listeners in _runs(request):
        if first <= number:
            found = LISTENERS[listeners] or _before(request, release) if lowest <= highest else ()
    return found


def _before(message: AnyMessage, release: str) -> tuple[str, ...]:
    name = _name(message)
    is_request = any(row[0] == name and row[1] == "request" for row in MESSAGES)
    return ("zkBroker",) if is_request and not has_listeners(release) else ()


def has_listeners(release: str) -> bool:
    """Return whether the definitions of a release declare listeners (2.8 and later). Raises ValueError."""
    number = RELEASES.index(release_of(release))
    return any(first <= number and LISTENERS[listeners] for runs in RUNS.values() for first, _, _, listeners in runs)


def since(message: AnyMessage, version: int | None = None) -> str | None:
    """Return the first release with a version of a message (default: any stable version); None if no release has it.

    Raises ValueError for an unknown message, and TypeError for a version that is not an int.
    """
    _check_version(version)
    for release, lowest, highest, _ in _runs(message):
        if lowest <= highest if version is None else lowest <= version <= highest:
            return RELEASES[release]
    return None


def unstable_since(message: AnyMessage, version: int) -> str | None:
    """Return the first release that has a version as unstable before any has it as stable; None if no release has.

    For the first stable versions of a message, it is the first release with any unstable version of the message.
    Brokers offer an unstable version (``latestVersionUnstable`` in the definitions) only if configured, and its bytes may
    change. Raises ValueError for an unknown message.
    """
    _check_number(version)
    _runs(message)
    found = UNSTABLE.get(_name(message), {}).get(version)
    return None if found is None else RELEASES[found]


def is_older(message: AnyMessage, version: int) -> bool:
    """Return whether Kafka used a version before the first release that defines the message, such as AbortedTxn 0.

    Raises ValueError for an unknown message.
    """
    _check_number(version)
    _runs(message)
    lowest, highest = OLDER.get(_name(message), (0, -1))
    return lowest <= version <= highest


def until(message: AnyMessage, version: int | None = None) -> str | None:
    """Return the release that removed a version of a message (default: all versions).

    None if the newest release has the version, or no release ever had it. Raises ValueError for an unknown message.
    """
    _check_version(version)
    found = None
    was_there = False
    for release, lowest, highest, _ in _runs(message):
        is_there = lowest <= highest if version is None else lowest <= version <= highest
        if is_there:
            found, was_there = None, True
        elif was_there and found is None:
            found = RELEASES[release]
    return found


def gaps(message: AnyMessage, version: int) -> tuple[str, ...]:
    """Return releases that lack a version although earlier and later ones have it: 4.0.0 for JoinGroupRequest 0.

    Raises ValueError for an unknown message.
    """
    _check_number(version)
    has = [version in versions_in(release, message) for release in RELEASES]
    if True not in has:
        return ()
    first, last = has.index(True), len(has) - has[::-1].index(True)
    return tuple(release for release, there in zip(RELEASES[first:last], has[first:last], strict=True) if not there)


def field_since(message: AnyMessage, path: str, version: int | None = None) -> str | None:
    """Return the first release with a field in ``version`` (default: in any version); None if no release has it.

    ``path`` is ``Topics[].Partitions[].LeaderId``, ``topics.partitions.leader_id`` or
    ``topics[0].partitions[2].leader_id``. A tagged field may be newer than its version. Raises ValueError for an
    unknown message or field.
    """
    _check_version(version)
    name = _name(message)
    having = _field_versions(name, path)
    if version is not None and version not in having:
        return None
    versions = having if version is None else (version,)
    return _first_of_field(name, _late(name).get(_place(path), 0), versions)


def field_until(message: AnyMessage, path: str) -> str | None:
    """Return the release that removed the last version with a field; None if the newest or no release has the field.

    Raises ValueError for an unknown message or field.
    """
    name = _name(message)
    versions = [each for each in _field_versions(name, path) if _first(name, each) is not None]
    gone = [until(name, each) for each in versions]
    return max((each for each in gone if each is not None), key=RELEASES.index, default=None) if all(gone) else None


def fields_since(message: AnyMessage) -> dict[str, str | None]:
    """Return the first release of each field, by Python path in definition order; None for fields of no release.

    Raises ValueError for an unknown message.
    """
    name = _name(message)
    late = _late(name)
    return {path: _first_of_field(name, late.get(_place(path), 0), each) for path, each in _paths(name).items()}


def error_code_since(code: str | int) -> str | None:
    """Return the first release with an error code, by number or name; None if unknown.

    A name may be newer than its number: 6 was NOT_LEADER_FOR_PARTITION before NOT_LEADER_OR_FOLLOWER.
    """
    found = [first for first, _, _ in _code_lifetimes(code)]
    return RELEASES[min(found)] if found else None


def error_code_until(code: str | int) -> str | None:
    """Return the release that removed an error code; None if the newest release has it, or no release had it."""
    found = [last for _, last, _ in _code_lifetimes(code)]
    gone = [last for last in found if last is not None]
    return RELEASES[max(gone)] if gone and len(gone) == len(found) else None


def error_code_names(number: int) -> tuple[str, ...]:
    """Return the names of an error code, oldest first; empty if unknown."""
    found = sorted((first, name) for name, (first, _, code) in ERROR_CODES.items() if code == number)
    return tuple(name for _, name in found)


def missing_in(message: AnyMessage, version: int) -> str:
    """Return the releases without a version as text, such as ``before 2.4.0`` or ``every release``; empty if none.

    Raises ValueError for an unknown message.
    """
    _check_number(version)
    first, last = since(message, version), until(message, version)
    if first is None:
        return "every release"
    words = [] if first == RELEASES[0] or is_older(message, version) else [f"before {first}"]
    words += [f"in {', '.join(missing)}"] if (missing := gaps(message, version)) else []
    return " and ".join(words + ([f"from {last} on"] if last is not None else []))


def releases_with(versions: SupportsItems[AnyMessage, int] | Iterable[tuple[AnyMessage, int]]) -> tuple[str, ...]:
    """Return the releases with every given pair of message and version. Raises ValueError for an unknown message."""
    wanted = [_pair(each) for each in _several(versions)]
    return tuple(
        release for release in RELEASES if all(version in versions_in(release, name) for name, version in wanted)
    )


def kips_of(message: AnyMessage, version: int) -> tuple[int, ...]:
    """Return the numbers of the KIPs that Kafka's definition names for a version, ascending; often empty.

    Raises ValueError for an unknown message, and TypeError for a version that is not an int.
    """
    _check_number(version)
    _runs(message)
    return KIPS.get(_name(message), {}).get(version, ())


def versions_with_kip(number: int) -> dict[str, tuple[int, ...]]:
    """Return the versions, by message, for which Kafka's definitions name a KIP; empty if none does."""
    found = {
        name: tuple(each for each, kips in sorted(versions.items()) if number in kips)
        for name, versions in KIPS.items()
    }
    return {name: versions for name, versions in found.items() if versions}


def describe_lifetimes(message: AnyMessage) -> list[str]:
    """Describe the lifetimes of a message's versions: ``versions 0-5: since 2.2.0 or before, until 4.0.0``.

    Raises ValueError for an unknown message.
    """
    known = _info(message).valid_versions
    runs: list[tuple[int, int, str]] = []
    for version in known:
        text = _lifetime(message, version)
        if runs and runs[-1][2] == text:
            runs[-1] = (runs[-1][0], version, text)
        else:
            runs.append((version, version, text))
    return [f"{with_noun(Versions(lowest, highest).notation)}: {text}" for lowest, highest, text in runs]


def _lifetime(message: AnyMessage, version: int) -> str:
    first, last, unstable = since(message, version), until(message, version), unstable_since(message, version)
    if first is None:
        return "unstable" if unstable is None else f"unstable since {unstable}"
    begins = f"since {first}" + (" or before" if first == RELEASES[0] else "")
    if unstable is not None:
        begins = f"stable since {first}, unstable since {unstable}"
    if is_older(message, version):
        begins = f"since before {first}, which defines it first"
    begins += f", not in {', '.join(missing)}" if (missing := gaps(message, version)) else ""
    return begins if last is None else f"{begins}, until {last}"


def _code_lifetimes(code: str | int) -> list[tuple[int, int | None, int]]:
    if isinstance(code, str):
        return [ERROR_CODES[code]] if code in ERROR_CODES else []
    return [life for life in ERROR_CODES.values() if life[2] == code]


def _name(message: object) -> str:
    if isinstance(message, str):
        return message
    if isinstance(message, type) and issubclass(message, Message):
        return name_of(message)
    raise TypeError(f"expected a message class or name, got {display(message)}")


def _check_version(version: int | None) -> None:
    if version is not None:
        _check_number(version)


def _check_number(version: int) -> None:
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"a version must be an int such as 3, not {display(version)}")


def _several(versions: Any) -> Iterable[object]:
    if isinstance(versions, str | type) or not hasattr(versions, "__iter__"):
        raise TypeError(f"expected a list of (message, version) pairs, got {display(versions)}")
    pairs: Iterable[object] = versions.items() if hasattr(versions, "items") else versions
    return pairs


def _pair(given: object) -> tuple[str, int]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(f"expected a pair of message and version, got {display(given)}")
    message, version = given
    _check_number(version)
    _runs(message)
    return _name(message), version


def _runs(message: AnyMessage) -> tuple[tuple[int, int, int, int], ...]:
    name = _name(message)
    if name not in RUNS:
        meant = did_you_mean(name, RUNS) or did_you_mean(f"{name}Request", RUNS)
        raise ValueError(f"unknown message {display(name)}{meant}")
    return RUNS[name]


def _first(name: str, version: int) -> int | None:
    return next((release for release, lowest, highest, _ in _runs(name) if lowest <= version <= highest), None)


def _first_of_field(name: str, late: int, versions: Iterable[int]) -> str | None:
    found = [number for each in versions if (number := _first(name, each)) is not None]
    return RELEASES[max(min(found), late)] if found else None


def _place(path: str) -> str:
    if not isinstance(path, str):
        raise TypeError(f"a field path must be a str such as 'topics.name', not {display(path)}")
    return _in_array("", path).replace("_", "").lower()


def _late(name: str) -> dict[str, int]:
    return {_place(path): release for path, release in LATE_FIELDS.get(name, {}).items()}


def _field_versions(name: str, path: str) -> Versions:
    paths = _paths(name)
    found = next((versions for each, versions in paths.items() if _place(each) == _place(path)), None)
    if found is None:
        raise ValueError(f"{name} has no field {path!r}{did_you_mean(path, paths)}")
    return found


def _paths(name: str) -> dict[str, Versions]:
    _runs(name)  # raises for an unknown message
    descriptor = descriptor_of(class_of(name))
    return dict(_inside(descriptor.fields, "", Versions(descriptor.valid.lowest, descriptor.valid.highest)))


def _inside(fields: Iterable[FieldDescriptor], above: str, there: Versions) -> Iterator[tuple[str, Versions]]:
    for field in fields:
        own = Versions(max(there.lowest, field.versions.lowest), min(there.highest, field.versions.highest))
        path = f"{above}.{field.name}" if above else field.name
        yield path, own
        yield from _inside(field.fields, path, own)


def _info(message: AnyMessage) -> MessageInfo:
    name = _name(message)
    _runs(name)
    return next(each for each in all_messages() if each.name == name)
