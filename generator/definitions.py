"""Loads a folder of definitions: read, checked, planned."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from generator import rules
from generator.plan import builder
from generator.plan.model import MessagePlan
from generator.rules import Checked
from generator.spec import reader, source
from generator.spec.companions import (
    ERRORS,
    ErrorCode,
    Sample,
    read_error_codes,
    read_licenses,
    read_release,
    read_sample,
)
from generator.spec.model import Message
from generator.spec.source import Location, Problem, Problems, SpecError

_FILE_NAME = re.compile(r"[\w /.,+@()-]+")


@dataclass(frozen=True)
class Definitions:
    """Sound definitions, ready to print."""

    plans: tuple[MessagePlan, ...]
    messages: tuple[Message, ...]
    """All of them, removed APIs too."""
    folders: dict[str, str]
    """Folder of each message's definition, relative to the specs, by message name."""
    error_codes: tuple[ErrorCode, ...]
    release: str | None
    """The Kafka release that ``SOURCE`` names."""
    licenses: dict[str, str]
    """The texts of ``LICENSE`` and ``NOTICE`` beside the definitions, by name."""
    sample: Sample | None
    """What ``sample.py`` beside the definitions shows."""
    warnings: tuple[Problem, ...]


def files_of(specs: Path) -> list[Path]:
    """The definition files below a folder, in the order of their paths."""
    return sorted(path for path in specs.rglob("*.json") if path != specs / ERRORS and not path.is_dir())


def load(specs: Path) -> Definitions:
    """Read every definition below ``specs``; raises SpecError with every problem of every file."""
    problems = Problems()
    files = files_of(specs)
    if not files:
        problems.error(Location(specs.as_posix(), 1, "$"), "no definitions (*.json) below this folder")
    messages, names = [], {}
    for path in files:
        node = source.load(path, path.as_posix(), problems)
        message = reader.read_message(node, problems) if node is not None else None
        if message is not None:
            messages.append(message)
            names[path.as_posix()] = _name(path, specs, problems)
    checked = rules.check(messages, problems)
    error_codes, release = read_error_codes(specs, problems), read_release(specs, problems)
    licenses, sample = read_licenses(specs, problems), read_sample(specs, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    plans = [_plan(each, names) for each in checked if not each.message.is_removed]
    folders = {m.name: names[m.location.file].rpartition("/")[0] for m in messages}
    warnings = tuple(problems.warnings)
    return Definitions(tuple(plans), tuple(messages), folders, error_codes, release, licenses, sample, warnings)


def _name(path: Path, specs: Path, problems: Problems) -> str:
    """What the package calls a definition file, in comments and tables that have to stay on their line."""
    name = path.relative_to(specs).as_posix()
    if not _FILE_NAME.fullmatch(name):
        what = f"the generated package cannot name the file {name!r}"
        problems.error(Location(path.as_posix(), 1, "$"), f"{what}; rename it with letters, digits, dots and dashes")
    return name


def _plan(checked: Checked, names: dict[str, str]) -> MessagePlan:
    return builder.build(checked, names[checked.message.location.file])
