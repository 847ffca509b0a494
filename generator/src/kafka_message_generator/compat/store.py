"""The release history on disk: each distinct definition once, and a table of releases.

``definitions/FetchRequest/2.4.0.json`` was new or changed in Kafka 2.4.0. ``releases.json`` lists releases with
changed and removed definitions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_message_generator.files import replace_file
from kafka_message_generator.spec.versions import Versions

TABLE, DEFINITIONS, ERROR_CODES = "releases.json", "definitions", "error-codes.json"
OLDER = "older.json"
"""File of the versions that Kafka supported before it had definitions of them."""
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)+")
_DIGITS = 16
Kept = tuple[dict[str, str], dict[str, tuple[str, str]]]
"""SHA-256 of a release's jars by file name, and folder and text of its definitions by message."""
Releases = dict[str, Kept]
Codes = dict[str, dict[str, int]]


class HistoryError(Exception):
    """Raised for a missing, invalid or edited history, or an unknown release; one problem per line."""


@dataclass(frozen=True)
class Entry:
    folder: str
    digest: str


@dataclass(frozen=True)
class ReleaseEntry:
    """A release in ``releases.json``: changes from the previous release, and digests of its jars."""

    name: str
    jars: dict[str, str]
    """SHA-256 by file name."""
    brought: dict[str, Entry]
    """New and changed definitions by message name."""
    gone: tuple[str, ...]
    """Messages removed since the previous release."""


@dataclass(frozen=True)
class StoredDefinition:
    name: str
    folder: str
    path: Path
    since: str


@dataclass(frozen=True)
class CodeLifetime:
    """Releases that added and removed an error code; ``removed`` is None if it still exists."""

    first: str
    removed: str | None
    code: int


@dataclass(frozen=True)
class History:
    root: Path
    releases: tuple[ReleaseEntry, ...]
    error_codes: str
    """Digest of ``error-codes.json``."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(release.name for release in self.releases)

    def definitions(self, release: str) -> dict[str, StoredDefinition]:
        """Return the definitions of a release by message name. Raises HistoryError."""
        if release not in self.names:
            raise HistoryError(f"{self.root}: unknown release {release}; expected one of {', '.join(self.names)}")
        return next(found for name, found in self.by_release() if name == release)

    def by_release(self) -> Iterator[tuple[str, dict[str, StoredDefinition]]]:
        """Yield every release with its definitions, oldest first."""
        current: dict[str, StoredDefinition] = {}
        first: dict[tuple[str, str], str] = {}
        for release in self.releases:
            for name in release.gone:
                del current[name]
            for name, entry in release.brought.items():
                since = first.setdefault((name, entry.digest), release.name)
                current[name] = StoredDefinition(name, entry.folder, path_of(self.root, name, since), since)
            yield release.name, dict(sorted(current.items()))


def release_problem(release: str) -> str | None:
    """Return the error message for an invalid release name, or None."""
    return None if _RELEASE.fullmatch(release) else f"{release!r} is not a Kafka release; write it like 4.4.0"


def order(release: str) -> tuple[int, ...]:
    """Return a sort key for releases: 3.10.0 comes after 3.9.2."""
    return tuple(int(number) for number in release.split("."))


def path_of(root: Path, name: str, release: str) -> Path:
    return root / DEFINITIONS / name / f"{release}.json"


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def read(root: Path) -> History:
    """Read the history in a folder. Raises HistoryError."""
    path = root / TABLE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        seal = data.pop("digest")
        releases = tuple(_entry(name, entry) for name, entry in data["releases"].items())
        error_codes = str(data["errorCodes"])
    except OSError as error:
        raise HistoryError(f"{path}: {error.strerror}; run nox -s upstream -- import-history") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HistoryError(f"{path}: invalid table of releases: {error!r}") from None
    for release in releases:
        if (problem := release_problem(release.name)) is not None:
            raise HistoryError(f"{path}: {problem}")
    if (found := digest_of(_printed(data))) != seal:
        raise HistoryError(f"{path}: {_edited(found, seal)}")
    history = History(root, releases, error_codes)
    problems = list(_problems(history))
    if problems:
        raise HistoryError("\n".join(problems))
    return history


def _printed(table: object) -> str:
    return json.dumps(table, indent=1) + "\n"


def _edited(found: str, wanted: str) -> str:
    return f"differs from the import (digest {found}, expected {wanted}); run nox -s upstream -- import-history"


def _entry(name: str, data: dict[str, dict[str, str]]) -> ReleaseEntry:
    brought = {}
    for message, text in data["brought"].items():
        folder, _, digest = text.rpartition(" ")
        brought[message] = Entry(folder, digest)
    return ReleaseEntry(name, dict(data["jars"]), brought, tuple(data["gone"]))


def _problems(history: History) -> Iterator[str]:
    table = history.root / TABLE
    if list(history.names) != sorted(history.names, key=order):
        yield f"{table}: the releases are not in order"
    known: dict[tuple[str, str], Path] = {}
    current: set[str] = set()
    for release in history.releases:
        for name in sorted(set(release.gone) - current):
            yield f"{table}: {release.name} drops {name}, which the previous release does not have"
        current = (current - set(release.gone)) | release.brought.keys()
        for name, entry in release.brought.items():
            if (name, entry.digest) not in known:
                path = known[name, entry.digest] = path_of(history.root, name, release.name)
                yield from _changed(path, entry.digest)
    yield from _changed(history.root / ERROR_CODES, history.error_codes)
    imported = set(known.values())
    for path in sorted((history.root / DEFINITIONS).rglob("*")):
        if path.is_file() and path not in imported:
            yield f"{path}: is not in {TABLE}; run nox -s upstream -- import-history"


def _changed(path: Path, digest: str) -> Iterator[str]:
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        yield f"{path}: cannot be read, but is listed in {TABLE}; run nox -s upstream -- import-history"
        return
    if digest_of(text) != digest:
        yield f"{path}: {_edited(digest_of(text), digest)}"


def releases_of(root: Path) -> Releases:
    """Return the releases of a history as an argument for ``write``. Raises HistoryError."""
    history = read(root)
    jars = {release.name: release.jars for release in history.releases}
    texts: dict[Path, str] = {}
    found: Releases = {}
    for release, current in history.by_release():
        for each in current.values():
            if each.path not in texts:
                texts[each.path] = each.path.read_text(encoding="utf-8")
        found[release] = jars[release], {name: (each.folder, texts[each.path]) for name, each in current.items()}
    return found


def codes_of(root: Path, releases: Iterable[str]) -> Codes:
    """Return the error codes of releases as an argument for ``write``. Raises HistoryError."""
    lifetimes = read_error_codes(root).items()
    return {
        release: {
            name: lifetime.code
            for name, lifetime in lifetimes
            if order(lifetime.first) <= order(release)
            and (lifetime.removed is None or order(release) < order(lifetime.removed))
        }
        for release in releases
    }


def write(root: Path, releases: Releases, codes: Codes) -> list[str]:
    """Write releases and their error codes; return lines such as ``write releases.json``.

    Raises HistoryError if the number of an error code changes.
    """
    table: dict[str, object] = {}
    files: dict[Path, str] = {}
    seen: set[tuple[str, str]] = set()
    before: dict[str, tuple[str, str]] = {}
    for release in sorted(releases, key=order):
        jars, definitions = releases[release]
        brought = {name: found for name, found in sorted(definitions.items()) if before.get(name) != found}
        gone = sorted(before.keys() - definitions.keys())
        for name, (_, text) in brought.items():
            if (name, text) not in seen:
                seen.add((name, text))
                files[path_of(root, name, release)] = text
        table[release] = {
            "jars": dict(sorted(jars.items())),
            "brought": {name: f"{folder} {digest_of(text)}" for name, (folder, text) in brought.items()},
            "gone": gone,
        }
        before = definitions
    files[root / ERROR_CODES] = error_codes = _lifetimes(codes)
    sealed = {"errorCodes": digest_of(error_codes), "releases": table}
    files[root / TABLE] = _printed({"digest": digest_of(_printed(sealed)), **sealed})
    return _written(root, files)


def _lifetimes(codes: Codes) -> str:
    lifetimes: dict[str, CodeLifetime] = {}
    for release in sorted(codes, key=order):
        for name, code in codes[release].items():
            lifetime = lifetimes.get(name, CodeLifetime(release, None, code))
            if lifetime.code != code:
                raise HistoryError(f"error code {name} is {code} in {release}, and was {lifetime.code} before")
            lifetimes[name] = replace(lifetime, removed=None)
        for name, lifetime in lifetimes.items():
            if lifetime.removed is None and name not in codes[release]:
                lifetimes[name] = replace(lifetime, removed=release)
    rows = {name: [lifetime.first, lifetime.removed, lifetime.code] for name, lifetime in sorted(lifetimes.items())}
    return json.dumps(rows, separators=(",", ": ")).replace("],", "],\n ") + "\n"


def read_error_codes(root: Path) -> dict[str, CodeLifetime]:
    """Return the lifetimes of error codes by name; empty if the file is missing. Raises HistoryError."""
    path = root / ERROR_CODES
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8")).items()
        return {name: CodeLifetime(first, last, code) for name, (first, last, code) in rows}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise HistoryError(f"{path}: invalid table of error codes: {error!r}") from None


def read_older(root: Path) -> dict[str, Versions]:
    """Return the versions in ``OLDER`` by message name; empty if the file is missing. Raises HistoryError."""
    path = root / OLDER
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8")).items()
        return {name: Versions.parse(versions) for name, (versions, _) in rows}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise HistoryError(f"{path}: invalid table of versions and sources: {error!r}") from None


def _written(root: Path, files: dict[Path, str]) -> list[str]:
    changes = []
    for path, text in sorted(files.items()):
        if not path.exists() or path.read_bytes() != text.encode():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, [text.encode()])
            changes.append(f"write {path.relative_to(root).as_posix()}")
    for path in sorted((root / DEFINITIONS).rglob("*.json")):
        if path not in files:
            path.unlink()
            changes.append(f"delete {path.relative_to(root).as_posix()}")
    return changes
