"""Imports the definitions of a release into ``specs/kafka``."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from kafka_message_generator.spec import source
from kafka_message_generator.spec.annotations import ENTITY_TYPES
from kafka_message_generator.spec.entities import read_entity_types
from kafka_message_generator.spec.model import ENTITY_TYPES as KNOWN_TYPES
from kafka_protocol_upstream.kafka import canonical
from kafka_protocol_upstream.kafka.artifacts import FOLDERS, GROUP, Jars
from kafka_protocol_upstream.kafka.fixups import completed, fixed

MARK = b'"validVersions"'
"""A property that every definition has, and no other JSON file in the jars."""


class ImportSpecsError(Exception):
    """Raised for an invalid jar, definition or ``entity-types.json``."""


def import_specs(jars: Jars, root: Path) -> list[str]:
    """Write every definition of ``jars`` below ``root``; return the changes.

    Descriptions in ``root`` are kept, by field path. Files of removed definitions are deleted. New entity types are
    added to ``entity-types.json``. Raises ImportSpecsError, and ValueError for a fixup that does not apply.
    """
    texts = {path: text for artifact in jars.versions for path, text in _texts(jars, artifact, FOLDERS[artifact], root)}
    new_types = _new_entity_types(texts.values(), root)
    texts["SOURCE"] = _source(jars)
    if new_types:
        texts[ENTITY_TYPES] = json.dumps(_known_entity_types(root) | new_types, indent=2) + "\n"
    changes = [f"write {name}" for name, text in sorted(texts.items()) if _write(root / name, text)]
    for path in sorted(root.rglob("*.json")):
        name = path.relative_to(root).as_posix()
        if name not in texts and name.count("/") and not path.is_dir():
            path.unlink()
            changes.append(f"delete {name}")
    return changes


def _new_entity_types(texts: Iterable[str], root: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        found = canonical.entity_types(json.loads(text)) | found
    known = {**KNOWN_TYPES, **_known_entity_types(root)}
    return {name: kind for name, kind in sorted(found.items()) if name not in known}


def _known_entity_types(root: Path) -> dict[str, str]:
    problems = source.Problems()
    found = read_entity_types(root, problems)
    if problems.errors:
        raise ImportSpecsError("\n".join(map(str, problems.errors)))
    return found


def _texts(jars: Jars, artifact: str, folder: str, root: Path) -> list[tuple[str, str]]:
    try:
        with zipfile.ZipFile(jars.jar(artifact)) as jar:
            found = []
            for name in sorted(name for name in jar.namelist() if name.endswith(".json")):
                data = jar.read(name)
                if MARK not in data:
                    continue
                data, _ = fixed(name.rpartition("/")[2], jars.release, data)
                definition = completed(_read(f"{jars.jar(artifact).name}!{name}", data))
                target = f"{folder}/{definition['name']}.json"
                found.append((target, canonical.render(canonical.in_order(definition, _kept(root / target)))))
    except zipfile.BadZipFile as error:
        raise ImportSpecsError(f"{jars.jar(artifact)}: {error}") from error
    return found


def _read(name: str, data: bytes) -> dict[str, canonical.Json]:
    problems = source.Problems()
    node = source.decode(name, data, problems)
    plain = node.plain() if node else None
    if problems.errors or not isinstance(plain, dict) or "name" not in plain:
        raise ImportSpecsError("\n".join(map(str, problems.errors)) or f"{name}: expected a JSON object with a name")
    return plain


def _kept(path: Path) -> dict[str, str]:
    return canonical.descriptions(_read(path.as_posix(), path.read_bytes())) if path.exists() else {}


def _source(jars: Jars) -> str:
    artifacts = {
        artifact: {
            "coordinates": f"{GROUP}:{artifact}:{jars.versions[artifact]}",
            "sha256": hashlib.sha256(jars.jar(artifact).read_bytes()).hexdigest(),
        }
        for artifact in jars.versions
    }
    return json.dumps({"release": jars.release, "artifacts": artifacts}, indent=2) + "\n"


def _write(path: Path, text: str) -> bool:
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return True
