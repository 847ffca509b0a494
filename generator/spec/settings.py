"""What a package is: the settings file ``package.toml`` beside the definitions, every key of it checked."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from generator.spec import source, toml
from generator.spec.parts import OPTIONAL
from generator.spec.properties import Missing, Properties
from generator.spec.source import Location, Node, Problems
from generator.spec.spelling import or_meant

FILE = "package.toml"
HEADERS = ("own", "kafka")
OLDEST_PYTHON = "3.11"
"""What generated code needs."""
_IMPORT_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_URL = re.compile(r"https?://\S+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True)
class Author:
    """A person or a group, with a name, an address, or both."""

    name: str | None
    email: str | None

    @property
    def facts(self) -> dict[str, str]:
        """As pyproject.toml has it."""
        return {key: text for key, text in (("name", self.name), ("email", self.email)) if text is not None}


@dataclass(frozen=True)
class Settings:
    """What the owner of a package decides about it. None, or nothing, where the generator decides."""

    import_name: str | None = None
    distribution: str | None = None
    version: str | None = None
    description: str | None = None
    license: str | None = None
    license_files: Mapping[str, str] = field(default_factory=dict)
    """Texts by the name of their file."""
    authors: tuple[Author, ...] = ()
    urls: Mapping[str, str] = field(default_factory=dict)
    classifiers: tuple[str, ...] = ()
    requires_python: str = f">={OLDEST_PYTHON}"
    readme: str | None = None
    """Text of the README of the package."""
    parts: tuple[str, ...] | None = None
    """Optional parts, by name; None: those that the messages call for."""
    headers: str = "own"
    """Whose RequestHeader and ResponseHeader stand before requests and responses: ``own`` definitions or ``kafka``."""
    one_way: tuple[str, ...] = ()
    """Requests that have no response."""
    accepted_warnings: tuple[str, ...] = ()
    """Definition files, relative to the specs, whose warnings are known and not worth a word."""
    logs: Mapping[str, str] = field(default_factory=dict)
    """The folder of definitions that has the records of each internal topic."""
    places: Mapping[str, Location] = field(default_factory=dict)
    """Where each key stands, by its name; for problems that show only beside the definitions."""


def read_settings(specs: Path, problems: Problems) -> Settings:
    """The settings beside definitions; the defaults if there is no ``package.toml``."""
    path = specs / FILE
    node = toml.load(path, path.as_posix(), problems) if path.exists() else None
    if node is None:
        return Settings()
    try:
        top = Properties(node, FILE, problems)
        package = _Table(top, "package", specs)
        protocol, records = _Table(top, "protocol", specs), _Table(top, "records", specs)
        definitions = _Table(top, "definitions", specs)
        settings = Settings(
            import_name=package.checked("import-name", import_name_problem),
            distribution=package.checked("name", _distribution_problem),
            version=package.checked("version", _version_problem),
            description=package.checked("description", _line_problem),
            license=package.checked("license", _license_problem),
            license_files=package.files("license-files"),
            authors=package.authors("authors"),
            urls=package.mapping("urls", _url_problem),
            classifiers=package.texts("classifiers", _classifier_problem),
            requires_python=package.checked("requires-python", _python_problem) or Settings.requires_python,
            readme=package.file("readme"),
            parts=package.texts("parts", _part_problem) if "parts" in package.members else None,
            headers=protocol.choice("headers", HEADERS, "own"),
            one_way=protocol.texts("one-way", _line_problem),
            accepted_warnings=definitions.texts("accepted-warnings", _line_problem),
            logs=records.mapping("logs", _line_problem),
            places={**package.places, **protocol.places, **records.places, **definitions.places},
        )
    except Missing:
        return Settings()
    for table in (package, protocol, records, definitions, top):
        table.finish()
    return settings


class _Table(Properties):
    """One table of the settings; files that it names are looked for beside the definitions."""

    def __init__(self, top: Properties, name: str, specs: Path) -> None:
        node = top.take(name) or Node({}, top.node.location)
        super().__init__(node, f"the table {name} of {FILE}", top.problems)
        self.specs = specs

    def checked(self, key: str, problem: Callable[[str], str | None]) -> str | None:
        """A text that is not wrong by ``problem``, which says what is."""
        node = self.take(key)
        return None if node is None else self._text(node, problem)

    def texts(self, key: str, problem: Callable[[str], str | None]) -> tuple[str, ...]:
        """A list of such texts, each once."""
        found: list[str] = []
        for node in self._elements(key):
            text = self._text(node, problem)
            if text in found:
                self.problems.error(node.location, f"{key} has {text!r} twice; leave one out")
            elif text is not None:
                found.append(text)
        return tuple(found)

    def mapping(self, key: str, problem: Callable[[str], str | None]) -> dict[str, str]:
        """A table of such texts by any name."""
        node = self.take(key)
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            self.wrong(node, "a table")
            return {}
        found = {name: self._text(each, problem) for name, each in node.value.items()}
        return {name: text for name, text in found.items() if text is not None}

    def file(self, key: str) -> str | None:
        """The text of a file beside the definitions."""
        node = self.take(key)
        return None if node is None else self._load(node)

    def files(self, key: str) -> dict[str, str]:
        """Texts of files by name."""
        texts = {str(node.value): self._load(node) for node in self._elements(key)}
        return {name: text for name, text in texts.items() if text is not None}

    def authors(self, key: str) -> tuple[Author, ...]:
        """Tables with a name, an email or both."""
        found = []
        for node in self._elements(key):
            try:
                author = Properties(node, "an author", self.problems)
            except Missing:
                continue
            name, email = author.text("name"), author.text("email")
            author.finish()
            if name is None and email is None:
                self.problems.error(node.location, "an author has neither name nor email; give one of them")
            elif email is not None and not _EMAIL.fullmatch(email):
                self.problems.error(node.location, f"{email!r} is no address; write for example me@example.org")
            else:
                found.append(Author(name, email))
        return tuple(found)

    def _elements(self, key: str) -> list[Node]:
        node = self.take(key)
        if node is None:
            return []
        if not isinstance(node.value, list):
            self.wrong(node, "an array")
            return []
        return node.value

    def _text(self, node: Node, problem: Callable[[str], str | None]) -> str | None:
        if not isinstance(node.value, str):
            self.wrong(node, "a string")
            return None
        if (reason := problem(node.value)) is not None:
            self.problems.error(node.location, reason)
            return None
        return node.value

    def _load(self, node: Node) -> str | None:
        name = self._text(node, _file_problem)
        if name is None:
            return None
        if not (self.specs / name).exists():
            what = f"there is no file {name!r} beside {FILE}; write one, or take its name out"
            self.problems.error(node.location, what)
            return None
        return source.load_text(self.specs / name, (self.specs / name).as_posix(), self.problems)


def import_name_problem(name: str) -> str | None:
    """What is wrong with the import name of a package, if anything is."""
    if not _IMPORT_NAME.fullmatch(name):
        return f"package name {name!r} must be lower case letters, digits and underscores"
    if keyword.iskeyword(name):
        return f"package name {name!r} is a keyword of Python; nobody could import it"
    if name in sys.stdlib_module_names:
        return f"package name {name!r} is a module of Python itself; choose another"
    return None


def _distribution_problem(name: str) -> str | None:
    if _DISTRIBUTION.fullmatch(name):
        return None
    return f"distribution name {name!r} must be letters, digits, and dots, dashes or underscores between them"


def _version_problem(text: str) -> str | None:
    try:
        Version(text)
    except InvalidVersion:
        return f"version {text!r} is no version of a Python package; write for example 1.0.0"
    return None


def _license_problem(text: str) -> str | None:
    try:
        canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return f"license {text!r} is no SPDX expression; write for example Apache-2.0 or LicenseRef-Proprietary"
    return None


def _python_problem(text: str) -> str | None:
    try:
        allowed = SpecifierSet(text)
    except InvalidSpecifier:
        return f"requires-python {text!r} is no range of versions; write for example >={OLDEST_PYTHON}"
    if allowed.contains("3.10"):
        return f"requires-python {text!r} allows Python 3.10, but generated code needs {OLDEST_PYTHON}"
    return None


def _part_problem(name: str) -> str | None:
    if name in OPTIONAL:
        return None
    known = f"there are {', '.join(OPTIONAL)}"
    return f"unknown part {name!r}; {or_meant(name, OPTIONAL, known)}"


def _url_problem(text: str) -> str | None:
    return None if _URL.fullmatch(text) else f"{text!r} is no link; it begins with https:// or http://"


def _classifier_problem(text: str) -> str | None:
    if text.startswith("License ::"):
        return f"classifier {text!r} says what license says already; leave it out"
    return None if " :: " in text else f"{text!r} is no classifier; write for example Development Status :: 4 - Beta"


def _file_problem(text: str) -> str | None:
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        return None
    return f"{text!r} is not the name of a file beside {FILE}"


def _line_problem(text: str) -> str | None:
    return None if text.strip() and text.isprintable() else f"{text!r} is not a line of text"
