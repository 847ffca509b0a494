"""Loading of definitions: reads the files, checks them and builds the plans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_message_generator import rules
from kafka_message_generator.compat.definition_sets import DefinitionSet
from kafka_message_generator.compat.store import TABLE
from kafka_message_generator.merging.collect import with_folders
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.rules import CheckedMessage, conventions
from kafka_message_generator.rules import entities as entity_rules
from kafka_message_generator.rules import enumerations as enumeration_rules
from kafka_message_generator.rules import error_responses as error_response_rules
from kafka_message_generator.rules import kips as kip_rules
from kafka_message_generator.rules import restrictions as restriction_rules
from kafka_message_generator.rules import secrets as secret_rules
from kafka_message_generator.rules import settings as settings_rules
from kafka_message_generator.rules.entities import EntityField
from kafka_message_generator.rules.enumerations import EnumerationFields
from kafka_message_generator.rules.error_responses import ErrorResponseRule
from kafka_message_generator.rules.kips import Kips
from kafka_message_generator.rules.restrictions import ResolvedRestriction
from kafka_message_generator.rules.secrets import ResolvedSecrets, SecretFields
from kafka_message_generator.spec import reader, source
from kafka_message_generator.spec.annotations import ANNOTATIONS, SOURCE
from kafka_message_generator.spec.descriptions import read_descriptions, with_descriptions
from kafka_message_generator.spec.entities import read_entities, read_entity_types
from kafka_message_generator.spec.enumerations import Enumeration, read_enumerations
from kafka_message_generator.spec.error_codes import ErrorCode, read_error_codes, read_release
from kafka_message_generator.spec.error_responses import read_error_responses
from kafka_message_generator.spec.kips import read_kips
from kafka_message_generator.spec.model import REQUEST, RESPONSE, Message
from kafka_message_generator.spec.restrictions import read_restrictions
from kafka_message_generator.spec.secrets import PASSWORD, read_kafka_settings, read_secrets
from kafka_message_generator.spec.settings import FILE, Settings, read_settings
from kafka_message_generator.spec.source import Location, Problem, Problems, SpecError

_FILE_NAME = re.compile(r"[\w /.,+@()-]+")
Warnings = tuple[Problem, ...]
_KAFKAS_HEADERS = Path(__file__).parent / "headers"
_OF_KAFKA = "generator/headers"  # folder name of Kafka's headers in error messages and generated modules


@dataclass(frozen=True)
class Definitions:
    plans: tuple[MessagePlan, ...]
    messages: tuple[Message, ...]  # including removed APIs
    folders: dict[str, str]  # folder of each definition, relative to the specs, by message
    error_codes: tuple[ErrorCode, ...]
    release: str | None  # Kafka release in ``SOURCE``
    open_settings: tuple[str, ...]  # Kafka settings that are not passwords
    secrets: ResolvedSecrets
    error_responses: tuple[ErrorResponseRule, ...]
    entities: tuple[EntityField, ...]
    restrictions: tuple[ResolvedRestriction, ...]
    kips: Kips
    enumerations: tuple[Enumeration, ...]
    settings: Settings
    warnings: Warnings
    accepted: Warnings  # warnings that the settings accept
    history: Path | None = None  # folder of the release history, or None


def files_of(specs: Path) -> list[Path]:
    """Return the sorted definition files below a folder; for a file, return only this file."""
    if specs.is_file():
        return [specs]
    beside = [specs / name for name in ANNOTATIONS]
    return sorted(path for path in specs.rglob("*.json") if path not in beside and not path.is_dir())


def annotations_of(specs: Path) -> list[Path]:
    """Return the annotation files, ``package.toml`` and the files that it names, if they exist."""
    names = {*ANNOTATIONS, FILE, *read_settings(specs, Problems()).named_files}
    return sorted(path for path in (specs / name for name in names) if path.is_file())


def older_of(specs: Path, more: Sequence[Path]) -> list[Path]:
    """Return the existing folders of older releases, from the settings and from ``more``."""
    named = (specs / folder for folder in read_settings(specs, Problems()).older)
    return [folder for folder in (*named, *more) if folder.exists()]


def load(
    specs: Path,
    components: tuple[str, ...] | None = None,
    check: Callable[[Settings, Problems], None] = lambda settings, problems: None,
    more: Sequence[Path] | None = (),
) -> Definitions:
    """Load a folder of definitions, or a single file. Raises SpecError with all problems.

    ``components`` overrides the optional components of the settings. ``check`` can report further problems of the settings.
    ``more`` are additional folders of older releases; None also ignores the folders in the settings.
    """
    problems = Problems()
    settings = read_settings(specs, problems)
    check(settings, problems)
    if components is not None:
        places = {**settings.places, "components": Location("command line", 1, "--components")}
        settings = replace(settings, components=components, places=places)
    messages, names = _read(specs, settings, problems)
    if not _is_imported(specs):
        conventions.check(messages, problems)
    unread = {Path(file).stem for file in names.keys() - {message.location.file for message in messages}}
    if more is not None and not problems.errors:  # invalid definitions cannot be compared
        messages = with_folders(messages, _older(specs, settings, more), files_of, problems, names)
        messages = with_descriptions(messages, read_descriptions(specs, problems), problems)
    entity_types = read_entity_types(specs, problems)
    checked = rules.check(messages, problems, settings_rules.one_way(settings, messages), unread, entity_types)
    error_codes, release = read_error_codes(specs, problems), read_release(specs, problems)
    folders = {m.name: names[m.location.file].rpartition("/")[0] for m in messages}
    of_files = {name.rpartition("/")[0] for name in names.values()}
    settings_rules.check(settings, messages, of_files, release, problems, unread)
    error_response_annotations, entity_annotations = read_error_responses(specs, problems), read_entities(
        specs, problems
    )
    kafka_settings, secret_annotations = read_kafka_settings(specs, problems), read_secrets(specs, problems)
    enumerations, restriction_annotations = read_enumerations(specs, problems), read_restrictions(specs, problems)
    kip_annotations = read_kips(specs, problems)
    names_of_all = names | {path.as_posix(): path.name for path in annotations_of(specs)}
    warnings, accepted = _warnings(settings, names_of_all, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    # Field paths in annotations are only checked in valid definitions.
    sound = [each for each in checked if not each.message.is_removed]
    found = {each.message.name: (each.message, each.structs) for each in sound}
    secrets = secret_rules.resolve(secret_annotations, found, problems)
    # These annotations also name messages of older releases, which are not loaded if ``more`` is None.
    error_responses = error_response_rules.resolve(() if more is None else error_response_annotations, found, problems)
    entities = entity_rules.resolve(() if more is None else entity_annotations, found, problems, entity_types)
    restrictions = restriction_rules.resolve(() if more is None else restriction_annotations, found, problems)
    kips = kip_rules.resolve(() if more is None else kip_annotations, found, problems)
    if more is None:
        enumerations = enumeration_rules.without_older(enumerations, found)
    resolved = enumeration_rules.resolve(enumerations, found, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    plans = _plans(sound, names, resolved, secret_rules.secret_fields(secrets, found))
    return Definitions(
        plans,
        tuple(messages),
        folders,
        error_codes,
        release,
        tuple(setting.name for setting in kafka_settings if setting.type != PASSWORD),
        secrets,
        error_responses,
        entities,
        restrictions,
        kips,
        enumerations,
        settings,
        warnings,
        accepted,
        next((folder for folder in older_of(specs, ()) if (folder / TABLE).exists()), None),
    )


def set_of_folder(specs: Path) -> DefinitionSet:
    """Return the definitions below a folder for a comparison. Raises SpecError with all problems."""
    loaded = load(specs, more=None)  # the baseline has the versions of older releases
    messages = {message.name: message for message in loaded.messages}
    return DefinitionSet(specs.as_posix(), messages, {plan.name: plan for plan in loaded.plans})


def _is_imported(specs: Path) -> bool:
    for folder in (specs, *specs.resolve().parents):
        if (folder / TABLE).is_file():
            return True
        if (path := folder / SOURCE).is_file():
            node = source.load(path, path.as_posix(), Problems())
            return node is not None and isinstance(node.value, dict) and "artifacts" in node.value
    return False


def _read(specs: Path, settings: Settings, problems: Problems) -> tuple[list[Message], dict[str, str]]:
    paths = files_of(specs)
    if not paths:
        what = "no definitions (*.json) found below this folder" if specs.exists() else "file or folder not found"
        problems.error(Location(specs.as_posix(), 1, "$"), what)
    root = specs.parent if specs.is_file() else specs
    beside = {path.parent for path in specs.rglob("*") if path.name in (FILE, *ANNOTATIONS)}
    if beside and root not in beside:
        inner = ", ".join(sorted(folder.as_posix() for folder in beside))
        what = f"{FILE} or annotation files are only in folders below this one; name their folder with --specs: {inner}"
        problems.error(Location(specs.as_posix(), 1, "$"), what)
        return [], {}
    names = {path.as_posix(): _name(path, root, problems) for path in paths}
    messages = list(_messages({path.as_posix(): path for path in paths}, problems))
    if settings.headers == "kafka":
        own = {message.name: message for message in messages}
        for message in _messages({f"{_OF_KAFKA}/{path.name}": path for path in files_of(_KAFKAS_HEADERS)}, problems):
            names[message.location.file] = message.location.file
            if message.name in own:
                what = f'{message.name} is defined here, but {FILE} says headers = "kafka"'
                problems.error(own[message.name].at("name"), f"{what}; remove the definition or the setting")
            else:
                messages.append(message)
    return messages, names


def _older(specs: Path, settings: Settings, more: Sequence[Path]) -> list[tuple[Path, Location]]:
    named = [(specs / folder, settings.places["older"]) for folder in settings.older]
    return named + [(folder, Location("command line", 1, "--specs")) for folder in more]


def _messages(files: Mapping[str, Path], problems: Problems) -> Iterator[Message]:
    for place, path in files.items():
        node = source.load(path, place, problems)
        message = reader.read_message(node, problems) if node is not None else None
        if message is not None:
            yield message


def _warnings(settings: Settings, names: dict[str, str], problems: Problems) -> tuple[Warnings, Warnings]:
    by_file: dict[str, list[Problem]] = {}
    for problem in problems.warnings:
        if problem.location.file in names:  # skip messages that only older releases have
            by_file.setdefault(names[problem.location.file], []).append(problem)
    refused = {names.get(problem.location.file) for problem in problems.errors}
    for name in settings.accepted_warnings:
        if name not in by_file and name not in refused:  # files with errors have no warnings
            what = f"accepted-warnings lists {name!r}, which has no warning"
            problems.error(settings.places["accepted-warnings"], f"{what}; remove it")
    accepted = [each for name, found in by_file.items() if name in settings.accepted_warnings for each in found]
    reported = [each for found in by_file.values() for each in found if each not in accepted]
    return tuple(sorted(reported)), tuple(accepted)


def _name(path: Path, specs: Path, problems: Problems) -> str:
    name = path.relative_to(specs).as_posix()
    if not _FILE_NAME.fullmatch(name):
        what = f"the generated package cannot contain the file {name!r}"
        problems.error(Location(path.as_posix(), 1, "$"), f"{what}; rename it with letters, digits, dots and dashes")
    return name


def _plans(
    checked: list[CheckedMessage],
    names: dict[str, str],
    resolved: Mapping[str, EnumerationFields],
    secrets: Mapping[str, SecretFields],
) -> tuple[MessagePlan, ...]:
    messages = [each.message for each in checked]
    response_names = {(REQUEST, each.api_key): each.name for each in messages if each.kind == RESPONSE}
    responses = [response_names.get((each.kind, each.api_key), "") for each in messages]
    files = [names[each.location.file] for each in messages]
    enumerations = [resolved[each.name] for each in messages]
    secret_fields = [secrets[each.name] for each in messages]
    return tuple(map(builder.build, checked, files, responses, enumerations, secret_fields))
