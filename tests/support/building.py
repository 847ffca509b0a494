"""Generate packages from definitions inside tests, and import them under unique names."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import black

from kafka_message_generator import definitions, output, rules
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.render import package
from kafka_message_generator.render.codec import message as codec
from kafka_message_generator.render.identity import identity_of
from kafka_message_generator.rules import CheckedMessage
from kafka_message_generator.spec import reader, source
from kafka_message_generator.spec.model import Message
from kafka_message_generator.spec.source import Problems, SpecError
from kafka_message_generator.spec.versions import NONE

Definition = Mapping[str, object] | str  # A message definition: a JSON object, or the text of its file.

_numbers = itertools.count()


def text_of(definition: Definition) -> str:
    """Return the text of a definition file."""
    return definition if isinstance(definition, str) else json.dumps(definition, indent=1, ensure_ascii=False)


def write_specs(folder: Path, *each: Definition) -> Path:
    """Write definitions into a folder, one file per message; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, definition in enumerate(each):
        name = f"definition{number}" if isinstance(definition, str) else str(definition["name"])
        (folder / f"{name}.json").write_text(text_of(definition), encoding="utf-8")
    return folder


def unique_name() -> str:
    return f"built_{os.getpid()}_{next(_numbers)}"


def build_package(tmp_path: Path, *each: Definition, name: str | None = None) -> ModuleType:
    """Generate a package from definitions into ``tmp_path`` and import it.

    The definitions go to ``tmp_path/<name>/specs``, the package to ``tmp_path/<name>/output``; ``name`` is made up
    when it is not given. Raises SpecError with every problem when the definitions are not sound.
    """
    name = name or unique_name()
    root = tmp_path / name
    request = package.PackageRequest(write_specs(root / "specs", *each), root / "output", name)
    loaded = definitions.load(request.specs)
    output.write(request.output, package.render(identity_of(loaded, name), loaded))
    return import_package(request.output / "src", name)


def import_package(folder: Path, name: str) -> ModuleType:
    """Import a package from a folder that is on the import path only temporarily."""
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def build_message(tmp_path: Path, definition: Mapping[str, object]) -> Any:
    """Return the class of one message, from a package of its own."""
    return getattr(build_package(tmp_path, definition), str(definition["name"]))


def module_of(message: Any) -> ModuleType:
    """Return the module of a message class, which contains its structs."""
    return importlib.import_module(message.__module__)


def check(definition: Definition, file: str = "Test.json") -> CheckedMessage:
    """Read and check one definition; raise SpecError for problems."""
    problems = Problems()
    node = source.parse(file, text_of(definition), problems)
    message = reader.read_message(node, problems) if node is not None else None
    checked = rules.check(_with_partner(message) if message is not None else [], problems)
    if problems.errors:
        raise SpecError(problems.errors)
    return checked[0]


def _with_partner(message: Message) -> list[Message]:
    other = {"request": "response", "response": "request"}.get(message.kind)
    if other is None or message.api_key is None:
        return [message]
    name = f"Partner{other.capitalize()}"
    partner = Message(name, other, message.valid, NONE, (), message.location, api_key=message.api_key)
    return [message, partner]


def plan_of(definition: Definition, file: str = "Test.json") -> MessagePlan:
    """Return the plan of one definition; ``PartnerResponse`` is the response of a request. Raise SpecError for
    problems."""
    checked = check(definition, file)
    return builder.build(checked, file, "PartnerResponse" if checked.message.kind == "request" else "")


def print_module(definition: Definition, file: str = "Test.json") -> str:
    """Return the formatted module of one definition, as printed in a package."""
    return _printed(text_of(definition), file)


@cache
def _printed(definition: str, file: str) -> str:
    return black.format_str(codec.render(plan_of(definition, file)), mode=package.MODE)


class Workshop:
    """A package that grows by message modules; the runtime is copied only once."""

    def __init__(self, folder: Path) -> None:
        self.name = unique_name()
        self._messages = folder / self.name / "messages"
        shutil.copytree(package.RUNTIME, folder / self.name, ignore=shutil.ignore_patterns("__pycache__"))
        self._messages.mkdir()
        (self._messages / "__init__.py").touch()
        import_package(folder, self.name)

    def add(self, definition: Definition, *, is_formatted: bool = False) -> Any:
        """Return the class of another message, whose name may repeat. Formatting takes 90 % of the time."""
        module = f"module_{next(_numbers)}"
        printed = print_module(definition) if is_formatted else codec.render(plan_of(definition))
        (self._messages / f"{module}.py").write_text(printed, encoding="utf-8")
        importlib.invalidate_caches()
        return getattr(importlib.import_module(f"{self.name}.messages.{module}"), check(definition).message.name)
