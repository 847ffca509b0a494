"""Imports the definitions of releases into the history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from kafka_message_generator.compat import store
from kafka_message_generator.compat.store import order
from kafka_protocol_upstream.kafka import kips
from kafka_protocol_upstream.kafka.artifacts import CORE, FOLDERS
from kafka_protocol_upstream.kafka.constants import error_codes
from kafka_protocol_upstream.kafka.definitions import Log, SourceDefinition, definitions_of, module_of
from kafka_protocol_upstream.kafka.published import WITHOUT_CORE

FIRST = "2.2.0"
"""First release with definitions in its jars."""


def import_history(
    jars: dict[str, list[Path]], root: Path, log: Log = lambda line: None, specs: Path | None = None
) -> list[str]:
    """Write a history of the releases in ``jars``, and their KIPs into ``specs``; return the changes.

    ``log`` receives a line for each fixup. Raises HistoryError for an invalid jar or definition, or if jars of a
    release define a message differently.
    """
    releases: store.Releases = {}
    codes: store.Codes = {}
    proposals: kips.Kips = {}
    for release in sorted(jars, key=order):
        if found := definitions_of(release, jars[release], log):
            releases[release] = _kept(found, jars[release])
            codes[release] = _codes(jars[release])
            proposals = kips.merged(proposals, found)
    changes = store.write(root, releases, codes)
    return changes if specs is None else changes + kips.write(specs, proposals)


def add_release(release: str, found: Mapping[str, SourceDefinition], jars: Iterable[Path], root: Path) -> list[str]:
    """Add or replace one release in a history; return the changes.

    Without ``jars``, the release keeps the error codes of the one before it. Raises HistoryError, before writing, for
    missing jars, and for no definitions.
    """
    known, jars = store.releases_of(root), list(jars)
    if not found:
        raise store.HistoryError(f"Kafka {release}: its jars have no definitions")
    if jars:
        _need_all(release, jars, known)
    releases = known | {release: _kept(found, jars)}
    codes = store.codes_of(root, releases)
    return store.write(root, releases, codes | {release: _codes(jars)} if jars else codes)


def _need_all(release: str, jars: Iterable[Path], known: store.Releases) -> None:
    before = max((name for name in known if known[name][0] and order(name) <= order(release)), key=order, default=None)
    if before is None:
        return
    missing = {module_of(Path(name)) for name in known[before][0]} - {module_of(jar) for jar in jars}
    if order(release) >= WITHOUT_CORE:
        missing.discard(CORE)
    if missing:
        names = ", ".join(sorted(missing))
        raise store.HistoryError(
            f"Kafka {release}: no jar of {names}, but Kafka {before} has one; add a jar of every module of the release"
        )


def _kept(found: Mapping[str, SourceDefinition], jars: Iterable[Path]) -> store.Kept:
    digests = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in jars if module_of(jar) in FOLDERS}
    return digests, {each.name: (each.folder, each.text) for each in found.values()}


def _codes(jars: Iterable[Path]) -> dict[str, int]:
    return {name: code for jar in jars if FOLDERS.get(module_of(jar)) == "clients" for name, code in _error_codes(jar)}


def _error_codes(jar: Path) -> Iterable[tuple[str, int]]:
    try:
        return error_codes(jar).items()
    except ValueError as error:
        raise store.HistoryError(f"{jar}: cannot read the error codes: {error}") from None
