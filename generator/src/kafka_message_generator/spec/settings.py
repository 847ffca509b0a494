"""Reader of ``package.toml``, the settings of a generated package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kafka_message_generator.spec import setting_checks as checks
from kafka_message_generator.spec import source, toml
from kafka_message_generator.spec.components import component_problem
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Node, Problem, Problems

FILE = checks.SETTINGS
HEADERS = ("own", "kafka")


@dataclass(frozen=True)
class Author:
    name: str | None
    email: str | None

    @property
    def project_keys(self) -> dict[str, str]:
        """Keys and values of the author in pyproject.toml."""
        return {key: text for key, text in (("name", self.name), ("email", self.email)) if text is not None}


@dataclass(frozen=True)
class Settings:
    """Validated settings of a package; None means the default, as do empty values except for ``components``."""

    import_name: str | None = None
    distribution: str | None = None
    version: str | None = None
    description: str | None = None
    license: str | None = None
    license_files: Mapping[str, str] = field(default_factory=dict)  # texts by file name
    authors: tuple[Author, ...] = ()
    urls: Mapping[str, str] = field(default_factory=dict)
    classifiers: tuple[str, ...] = ()
    requires_python: str = f">={checks.OLDEST_PYTHON}"
    readme: str | None = None  # text of the package's README
    components: tuple[str, ...] | None = None  # optional components; None: those that the messages require
    headers: str = "own"  # ``own`` or ``kafka``
    one_way: tuple[str, ...] = ()  # requests without response
    accepted_warnings: tuple[str, ...] = ()  # definition files whose warnings are not printed
    older: tuple[str, ...] = ()  # folders of releases that contribute more versions
    # Folder of the record definitions by topic
    logs: Mapping[str, str] = field(default_factory=dict)
    # Location of each key
    places: Mapping[str, Location] = field(default_factory=dict)
    invalid_keys: frozenset[str] = frozenset()  # invalid keys of ``[protocol]``; dependent rules are skipped
    named_files: tuple[str, ...] = ()  # files that the settings refer to


def read_settings(specs: Path, problems: Problems) -> Settings:
    """Read ``package.toml``; return the defaults if it is missing or not valid TOML."""
    path = specs / FILE
    node = toml.load(path, path.as_posix(), problems) if path.exists() else None
    if node is not None:
        return _read(node, specs, problems)
    return Settings(invalid_keys=_OF_PROTOCOL if path.exists() else frozenset())


def _read(node: Node, specs: Path, problems: Problems) -> Settings:
    before = len(problems.found)
    top = _SettingsTable(node, FILE, problems, specs)
    package, protocol, topics, definitions = map(top.inner, ("package", "protocol", "internal-topics", "definitions"))
    components = package.texts("components", component_problem)
    settings = Settings(
        import_name=package.checked("import-name", checks.import_name_problem),
        distribution=package.checked("name", checks.distribution_problem),
        version=package.checked("version", checks.version_problem),
        description=package.checked("description", checks.line_problem),
        license=package.checked("license", checks.license_problem),
        license_files=package.files("license-files", checks.license_file_problem),
        authors=package.authors("authors"),
        urls=package.mapping("urls", checks.label_problem, checks.url_problem),
        classifiers=package.texts("classifiers", checks.classifier_problem),
        requires_python=package.checked("requires-python", checks.python_problem) or Settings.requires_python,
        readme=package.file("readme", checks.file_problem),
        components=components if "components" in package.members else None,
        headers=protocol.choice("headers", HEADERS, "own"),
        one_way=protocol.texts("one-way", checks.line_problem),
        accepted_warnings=definitions.texts("accepted-warnings", checks.line_problem),
        older=definitions.texts("older", checks.line_problem),
        logs=topics.mapping("logs", checks.topic_problem, checks.line_problem),
        places={**package.places, **protocol.places, **topics.places, **definitions.places},
        named_files=tuple(package.named),
    )
    settings = replace(settings, invalid_keys=_invalid_keys({**top.places, **protocol.places}, problems.found[before:]))
    tables = (top, package, protocol, topics, definitions)
    for table in tables:
        if misspelt := table.misspellings():  # drop follow-up problems
            del problems.found[before:]
            misspelling = table.corrected(misspelt)
            settings = _read(_with(node, table.node, misspelling.corrected), specs, problems)
            problems.found += misspelling.problems  # added last, because values with a problem are skipped
            return settings
    for table in tables:
        table.finish()
    return settings


_OF_PROTOCOL = frozenset(("headers", "one-way"))


def _invalid_keys(places: Mapping[str, Location], found: Iterable[Problem]) -> frozenset[str]:
    refused = [problem.location.path for problem in found]
    if "protocol" in places and places["protocol"].path in refused:
        return _OF_PROTOCOL
    # The path of a list element is its key and index.
    return frozenset(
        key for key in _OF_PROTOCOL & places.keys() if {places[key].path} & {path.partition("[")[0] for path in refused}
    )


def _with(top: Node, table: Node, corrected: Node) -> Node:
    if table is top or not isinstance(top.value, dict):
        return corrected
    return Node({key: corrected if each is table else each for key, each in top.value.items()}, top.location)


Check = Callable[[str], str | None]  # returns an error message, or None for a valid text


class _SettingsTable(Properties):
    """A table of the settings; ``specs`` is the folder of the files that the settings name."""

    def __init__(self, node: Node, what: str, problems: Problems, specs: Path) -> None:
        super().__init__(node, what, problems)
        self.specs = specs
        self.named: list[str] = []  # referenced files that exist

    def inner(self, key: str) -> _SettingsTable:
        node = self.take(key)
        if node is not None and not isinstance(node.value, dict):
            self.wrong(node, "a table")
            node = None
        node = node or Node({}, self.node.location)
        return _SettingsTable(node, f"the table {key} of {FILE}", self.problems, self.specs)

    def text(self, key: str) -> str | None:
        return self.checked(key, lambda text: None)

    def checked(self, key: str, problem: Check) -> str | None:
        node = self.take(key)
        return None if node is None else self._text(node, problem)

    def texts(self, key: str, problem: Check) -> tuple[str, ...]:
        return tuple(text for _, text in self._texts(key, problem))

    def mapping(self, key: str, key_problem: Check, problem: Check) -> dict[str, str]:
        found = {}
        for name, node in self.inner(key).members.items():
            text = self._text(node, problem)
            if (reason := key_problem(name)) is not None:
                self.problems.error(node.location, reason)
            elif text is not None:
                found[name] = text
        return found

    def file(self, key: str, problem: Check) -> str | None:
        node = self.take(key)
        name = None if node is None else self._text(node, problem)
        return None if node is None or name is None else self._load(node, name)

    def files(self, key: str, problem: Check) -> dict[str, str]:
        loaded = {name: self._load(node, name) for node, name in self._texts(key, problem)}
        return {name: text for name, text in loaded.items() if text is not None}

    def authors(self, key: str) -> tuple[Author, ...]:
        found = []
        for node in self._elements(key):
            if not isinstance(node.value, dict):
                self.wrong(node, "a table")
                continue
            author = _SettingsTable(node, "an author", self.problems, self.specs)
            name, email = author.checked("name", checks.line_problem), author.checked("email", checks.email_problem)
            author.finish()
            if not {"name", "email"} & author.members.keys():
                self.problems.error(node.location, "an author needs a name or an email")
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

    def _texts(self, key: str, problem: Check) -> Iterator[tuple[Node, str]]:
        seen = set()
        for node in self._elements(key):
            text = self._text(node, problem)
            if text in seen:
                self.problems.error(node.location, f"{key} has {text!r} twice; remove one")
            elif text is not None:
                seen.add(text)
                yield node, text

    def _text(self, node: Node, problem: Check) -> str | None:
        if self.problems.has_error_at(node.location):
            return None
        if not isinstance(node.value, str):
            self.wrong(node, "a string")
            return None
        if (reason := problem(node.value)) is not None:
            self.problems.error(node.location, reason)
            return None
        return node.value

    def _load(self, node: Node, name: str) -> str | None:
        path = self.specs / name
        if not path.exists():
            what = f"there is no file {name!r} next to {FILE}; add it, or remove its name"
            self.problems.error(node.location, what)
            return None
        self.named.append(name)
        return source.load_text(path, path.as_posix(), self.problems)
