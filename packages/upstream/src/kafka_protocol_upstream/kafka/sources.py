"""Definitions without jars: a folder, a Git revision, and a proposal's files laid over others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from kafka_message_generator import rules
from kafka_message_generator.compat.inputs import GIT, unpacked
from kafka_message_generator.rules import headers
from kafka_message_generator.rules.settings import one_way
from kafka_message_generator.spec import reader, source
from kafka_message_generator.spec.annotations import ANNOTATIONS
from kafka_message_generator.spec.model import KINDS
from kafka_message_generator.spec.settings import read_settings
from kafka_protocol_upstream.kafka.artifacts import ARTIFACTS
from kafka_protocol_upstream.kafka.definitions import (
    MARK,
    ImportSpecsError,
    SourceDefinition,
    known_entity_types,
    new_entity_types,
    read_definition,
)

Found = dict[str, SourceDefinition]
_MODULE = re.compile(r"([^/]+)/src/main/resources/")


def of_folder(folder: Path, known: Found, release: str, temporary: str = "") -> Found:
    """Return the definitions below a folder by message name; in a checkout of Kafka, without those of its tests.

    Every JSON file is a definition, except annotation files; in a checkout, every JSON file beside definitions.
    ``known`` helps to find the modules of messages; ``temporary`` is stripped from places. Raises ImportSpecsError for no
    definitions, two of one message, or an unknown module, and HistoryError for an invalid definition.
    """
    files = {path: path.read_bytes() for path in sorted(folder.rglob("*.json")) if path.is_file()}
    folders = {
        path.parent for path, data in files.items() if MARK in data and _MODULE.search(path.resolve().as_posix())
    }
    found: Found = {}
    for path in [each for each in files if each.parent in folders or (not folders and each.name not in ANNOTATIONS)]:
        each = read_definition(path.as_posix().removeprefix(temporary), files[path], "", release)
        if each.name in found:
            raise ImportSpecsError(f"{each.place}: {each.name} is also defined in {found[each.name].place}; remove one")
        found[each.name] = SourceDefinition(each.name, _module(path, each, known), each.place, each.data, each.plain)
    if not found:
        raise ImportSpecsError(
            f"{folder.as_posix().removeprefix(temporary)}: neither jars of Kafka nor definitions (*.json) in this folder"
        )
    return found


def _module(path: Path, each: SourceDefinition, known: Found) -> str:
    names = _MODULE.findall(path.resolve().as_posix()) or [path.parent.name]
    if names[-1] in ARTIFACTS.values():
        return str(names[-1])
    modules = {other.folder for other in known.values() if other.plain.get("type") == each.plain.get("type")}
    if each.name in known:
        return known[each.name].folder
    if each.plain.get("type") not in KINDS:
        return ""  # check() reports the type
    if len(modules) != 1:
        what = (
            f"the module of the new message {each.name} is unknown; put the file into a folder with the module's name"
        )
        raise ImportSpecsError(f"{each.place}: {what}: {', '.join(ARTIFACTS.values())}")
    return modules.pop()


def of_source(
    what: str | None, specs: Path, release: str, repository: Path | None, found: Found | None = None
) -> tuple[Found, list[str]]:
    """Return the definitions of a folder or Git revision, and the modules that come from ``specs`` instead.

    These are the modules without any definition in ``what``; None stands for ``specs`` itself. ``found`` are the definitions
    of ``what`` if they are known. Raises CompatInputError and as ``of_folder``.
    """
    known = of_folder(specs, {}, release) if specs.exists() else {}
    if what is None:
        return known, []
    if found is None:
        with unpacked(what, "", repository) if what.startswith(GIT) else nullcontext((Path(what), "")) as (folder, top):
            found = of_folder(folder, known, release, top)
    kept = {each.folder for each in known.values()} - {each.folder for each in found.values()}
    return {name: each for name, each in known.items() if each.folder in kept} | found, sorted(kept)


def overlaid(found: Found, folder: Path, release: str) -> Found:
    """Return ``found`` with the definitions of a proposal's folder. Raises as ``of_folder``, and for conflicts."""
    if not folder.is_dir():
        raise ImportSpecsError(
            f"--overlay: {folder.as_posix()} is not a folder; name the folder of the changed definitions"
        )
    overlay = of_folder(folder, found, release)
    files = {Path(each.place).name: each for each in found.values()}
    keys = {_key(each): each for each in found.values()}
    for each in overlay.values():
        others = (files.get(Path(each.place).name), found.get(each.name), keys.get(_key(each)))
        for other in others:
            if other is not None and (other.name, Path(other.place).name) != (each.name, Path(each.place).name):
                what = f"{each.name} conflicts with {other.name} in {other.place}: they share the file name, name or apiKey"
                raise ImportSpecsError(
                    f"{each.place}: {what}; give the file and the message the names that it replaces"
                )
    if all(each.name in found and found[each.name].text == each.text for each in overlay.values()):
        raise ImportSpecsError(
            f"{folder.as_posix()}: the overlay changes nothing but descriptions; name the folder with changed definitions"
        )
    return found | overlay


def _key(each: SourceDefinition) -> tuple[object, ...]:
    key = each.plain.get("apiKey")
    return (each.name,) if key is None else (each.plain.get("type"), key, each.folder)


def check(found: Mapping[str, SourceDefinition], specs: Path) -> None:
    """Check definitions at their places in the source. Raises SpecError with all problems."""
    problems = source.Problems()
    nodes = [source.decode(each.place, each.data, problems) for each in found.values()]
    read = [reader.read_message(node, problems) for node in nodes if node is not None]
    messages = [message for message in read if message is not None]
    types = known_entity_types(specs) | new_entity_types(found.values(), specs)
    settings = read_settings(specs, source.Problems())
    rules.check(messages, problems, one_way(settings, messages), entity_types=types)
    headers.check(messages, settings.headers == "kafka", problems)
    if problems.errors:
        raise source.SpecError(problems.errors)
