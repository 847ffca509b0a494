"""Definitions of a release, read from jars, and written into ``specs/kafka``."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.compat.store import HistoryError
from kafka_message_generator.files import replace_file
from kafka_message_generator.spec import source
from kafka_message_generator.spec.annotations import ENTITY_TYPES
from kafka_message_generator.spec.entities import read_entity_types
from kafka_message_generator.spec.model import ENTITY_TYPES as KNOWN_TYPES
from kafka_message_generator.spec.model import NAME
from kafka_protocol_upstream.kafka import canonical
from kafka_protocol_upstream.kafka.artifacts import FOLDERS, GROUP, Jars
from kafka_protocol_upstream.kafka.fixups import completed, fixed

MARK = b'"validVersions"'
"""A property that every definition has, and no other JSON file in the jars."""
_VERSION = re.compile(r"-[0-9][0-9.]*\.jar$")
_MOST_BYTES = 64 << 20  # of the definitions of a jar; Kafka's have less than 1 MB
Log = Callable[[str], None]


class ImportSpecsError(Exception):
    """Raised for invalid sources of an import, and for an invalid ``entity-types.json``."""


@dataclass(frozen=True)
class SourceDefinition:
    """A definition as Kafka has it; ``place`` is its path, or ``JAR!PATH``."""

    name: str
    folder: str
    """Folder of its module below ``specs/kafka``."""
    place: str
    data: bytes
    plain: dict[str, canonical.Json]

    @property
    def text(self) -> str:
        """The canonical form, without descriptions."""
        return canonical.render(canonical.in_order(self.plain, {}))


def module_of(jar: Path) -> str:
    return _VERSION.sub("", jar.name)


def definitions_of(release: str, jars: Iterable[Path], log: Log = lambda line: None) -> dict[str, SourceDefinition]:
    """Return the definitions in the jars of Kafka's modules, by message name; other jars are ignored.

    ``log`` receives a line for each fixup. Raises HistoryError for an invalid jar or definition, or if jars define a
    message differently.
    """
    found: dict[str, SourceDefinition] = {}
    for jar in sorted(jars):
        folder = FOLDERS.get(module_of(jar))
        for name, data in _json_files(jar) if folder is not None else ():
            each = read_definition(f"{jar.name}!{name}", data, str(folder), release, log)
            known = found.setdefault(each.name, each)
            if known.text != each.text:
                other = next(module for module, folder in FOLDERS.items() if folder == known.folder)
                raise HistoryError(f"{jar}: the definition of {each.name} differs from the one in {other}")
    return found


def _json_files(jar: Path) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(jar) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith(".json"))
            if sum(archive.getinfo(name).file_size for name in names) > _MOST_BYTES:
                raise HistoryError(f"{jar}: unpacks to more than {_MOST_BYTES:,} bytes of definitions")
            found = [(name, archive.read(name)) for name in names]
    except zipfile.BadZipFile as error:
        raise HistoryError(f"{jar}: {error}") from error
    return [(name, data) for name, data in found if MARK in data]


def read_definition(
    place: str, data: bytes, folder: str, release: str, log: Log = lambda line: None
) -> SourceDefinition:
    """Parse a definition and apply the fixups of its release. Raises HistoryError."""
    try:
        data, why = fixed(place.rpartition("/")[2], release, data)
    except ValueError as error:
        raise HistoryError(f"{place}: {error}") from None
    if why is not None:
        log(f"{place}: fixed: {why}")
    problems = source.Problems()
    node = source.decode(place, data, problems)
    plain = node.plain() if node is not None else None
    if problems.errors or not isinstance(plain, dict) or not isinstance(plain.get("name"), str):
        raise HistoryError("\n".join(map(str, problems.errors)) or f"{place}: expected a JSON object with a name")
    if not NAME.fullmatch(plain["name"]):
        advice = "use ASCII letters and digits, and start with a letter"
        raise HistoryError(f"{place}: invalid message name {plain['name']!r}; {advice}")
    return SourceDefinition(plain["name"], folder, place, data, completed(plain))


def import_specs(jars: Jars, root: Path) -> list[str]:
    """Write every definition of ``jars`` below ``root``; return the changes. Raises as ``write_specs``, and HistoryError."""
    found = definitions_of(jars.release, map(jars.jar, jars.versions))
    return write_specs(jars.release, found, root, jars)


def write_specs(release: str, found: Mapping[str, SourceDefinition], root: Path, jars: Jars | None = None) -> list[str]:
    """Write definitions below ``root``, and their origin into ``SOURCE``; return the changes.

    Descriptions in ``root`` are kept, by field path. Files of removed definitions are deleted. New entity types are
    added to ``entity-types.json``. Raises ImportSpecsError.
    """
    texts = {}
    for each in found.values():
        target = f"{each.folder}/{each.name}.json"
        texts[target] = canonical.render(canonical.in_order(each.plain, _kept(root / target)))
    known, new_types = known_entity_types(root), new_entity_types(found.values(), root)
    texts["SOURCE"] = json.dumps({"release": release, "artifacts": _artifacts(jars)}, indent=2) + "\n"
    if new_types:
        texts[ENTITY_TYPES] = json.dumps(known | new_types, indent=2) + "\n"
    changes = [f"write {name}" for name, text in sorted(texts.items()) if _write(root / name, text)]
    for path in sorted(root.rglob("*.json")):
        name = path.relative_to(root).as_posix()
        if name not in texts and name.partition("/")[0] in FOLDERS.values() and not path.is_dir():
            path.unlink()
            changes.append(f"delete {name}")
    return changes


def new_entity_types(found: Iterable[SourceDefinition], root: Path) -> dict[str, str]:
    types: dict[str, str] = {}
    for each in found:
        types = canonical.entity_types(each.plain) | types
    known = {**KNOWN_TYPES, **known_entity_types(root)}
    return {name: kind for name, kind in sorted(types.items()) if name not in known}


def known_entity_types(root: Path) -> dict[str, str]:
    """Return the entity types in ``entity-types.json``. Raises ImportSpecsError."""
    problems = source.Problems()
    found = read_entity_types(root, problems)
    if problems.errors:
        raise ImportSpecsError("\n".join(map(str, problems.errors)))
    return found


def _kept(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    return canonical.descriptions(read_definition(path.as_posix(), path.read_bytes(), "", "").plain)


def _artifacts(jars: Jars | None) -> dict[str, dict[str, str]]:
    found = {} if jars is None else {name: (version, jars.jar(name)) for name, version in jars.versions.items()}
    return {
        name: {"coordinates": f"{GROUP}:{name}:{version}", "sha256": hashlib.sha256(jar.read_bytes()).hexdigest()}
        for name, (version, jar) in found.items()
    }


def _write(path: Path, text: str) -> bool:
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [text.encode()])
    return True
