"""Imports the definitions of releases into the history."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.compat import store
from kafka_message_generator.compat.store import order
from kafka_message_generator.spec import source
from kafka_protocol_upstream.kafka import canonical
from kafka_protocol_upstream.kafka.artifacts import CORE, FOLDERS
from kafka_protocol_upstream.kafka.constants import error_codes
from kafka_protocol_upstream.kafka.definitions import MARK
from kafka_protocol_upstream.kafka.fixups import completed, fixed
from kafka_protocol_upstream.kafka.published import WITHOUT_CORE

FIRST = "2.2.0"
"""First release with definitions in its jars."""
_VERSION = re.compile(r"-[0-9][0-9.]*\.jar$")
Log = Callable[[str], None]


@dataclass(frozen=True)
class Found:
    name: str
    folder: str
    text: str


def import_history(jars: dict[str, list[Path]], root: Path, log: Log = lambda line: None) -> list[str]:
    """Write a history of the releases in ``jars``; return the changes.

    ``log`` receives a line for each fixup. Raises HistoryError for an invalid jar or definition, or if jars of a
    release define a message differently.
    """
    releases: store.Releases = {}
    codes: store.Codes = {}
    for release in sorted(jars, key=order):
        kept = _release(release, jars[release], log)
        if kept[1]:
            releases[release] = kept
            codes[release] = _codes(jars[release])
    return store.write(root, releases, codes)


def add_release(release: str, jars: list[Path], root: Path, log: Log = lambda line: None) -> list[str]:
    """Add or replace one release in a history; return the changes.

    Raises HistoryError, before writing, for missing jars, and for invalid, differing or no definitions.
    """
    known = store.releases_of(root)
    kept = _release(release, jars, log)
    if not kept[1]:
        raise store.HistoryError(f"Kafka {release}: its jars have no definitions")
    _need_all(release, kept[0], known)
    releases = known | {release: kept}
    codes = store.codes_of(root, [name for name in releases if name != release]) | {release: _codes(jars)}
    return store.write(root, releases, codes)


def _need_all(release: str, jars: Iterable[str], known: store.Releases) -> None:
    before = max((name for name in known if order(name) <= order(release)), key=order, default=None)
    if before is None:
        return
    missing = _modules(known[before][0]) - _modules(jars)
    if order(release) >= WITHOUT_CORE:
        missing.discard(CORE)
    if missing:
        names = ", ".join(sorted(missing))
        raise store.HistoryError(
            f"Kafka {release}: no jar of {names}, but Kafka {before} has one; add a jar of every module of the release"
        )


def _modules(jars: Iterable[str]) -> set[str]:
    return {_VERSION.sub("", name) for name in jars}


def _release(release: str, jars: list[Path], log: Log) -> store.Kept:
    found: dict[str, tuple[str, str]] = {}
    for jar in sorted(jars):
        for each in _definitions(jar, release, log):
            known = found.setdefault(each.name, (each.folder, each.text))
            if known[1] != each.text:
                other = next(artifact for artifact, folder in FOLDERS.items() if folder == known[0])
                raise store.HistoryError(f"{jar}: the definition of {each.name} differs from the one in {other}")
    return {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in jars if _folder(jar)}, found


def _codes(jars: list[Path]) -> dict[str, int]:
    return {name: code for jar in jars if _folder(jar) == "clients" for name, code in _error_codes(jar)}


def _error_codes(jar: Path) -> Iterable[tuple[str, int]]:
    try:
        return error_codes(jar).items()
    except ValueError as error:
        raise store.HistoryError(f"{jar}: cannot read the error codes: {error}") from None


def _folder(jar: Path) -> str | None:
    return FOLDERS.get(_VERSION.sub("", jar.name))


def _definitions(jar: Path, release: str, log: Log) -> Iterator[Found]:
    folder = _folder(jar)
    if folder is None:
        return
    try:
        with zipfile.ZipFile(jar) as archive:
            for name in sorted(archive.namelist()):
                data = archive.read(name) if name.endswith(".json") else b""
                if MARK in data:
                    yield _definition(jar, name, data, folder, release, log)
    except zipfile.BadZipFile as error:
        raise store.HistoryError(f"{jar}: {error}") from error


def _definition(jar: Path, name: str, data: bytes, folder: str, release: str, log: Log) -> Found:
    place = f"{jar.name}!{name}"
    try:
        data, why = fixed(name.rpartition("/")[2], release, data)
    except ValueError as error:
        raise store.HistoryError(f"{place}: {error}") from None
    if why is not None:
        log(f"{place}: fixed: {why}")
    problems = source.Problems()
    node = source.decode(place, data, problems)
    plain = node.plain() if node is not None else None
    if problems.errors or not isinstance(plain, dict) or not isinstance(plain.get("name"), str):
        raise store.HistoryError("\n".join(map(str, problems.errors)) or f"{place}: expected a JSON object with a name")
    return Found(plain["name"], folder, canonical.render(canonical.in_order(completed(plain), {})))
