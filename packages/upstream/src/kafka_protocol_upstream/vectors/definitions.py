"""A second reader of definitions, so that vectors and generator do not share bugs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.source import Problems, SpecError, load
from kafka_message_generator.spec.versions import NONE, Versions

SUFFIXED = ("request", "response", "header")
"""Message types whose Java class has the suffix ``Data``."""


@dataclass(frozen=True)
class VectorField:
    """A field; ``key`` is its JSON name, ``type`` the scalar type or struct (of the elements if ``is_array``)."""

    key: str
    type: str
    is_array: bool
    versions: Versions
    nullable: Versions
    tagged: Versions
    is_map_key: bool
    default: str | None

    @property
    def is_struct(self) -> bool:
        return self.type[0].isupper()


@dataclass(frozen=True)
class VectorDefinition:
    """A message; ``file`` is relative to the definitions, ``structs`` has inline and common structs."""

    name: str
    type: str
    file: str
    versions: Versions
    flexible: Versions
    fields: tuple[VectorField, ...]
    structs: dict[str, tuple[VectorField, ...]]

    @property
    def folder(self) -> str:
        return self.file.split("/", 1)[0]

    @property
    def java_class(self) -> str:
        return self.name + ("Data" if self.type in SUFFIXED else "")


def read_definitions(specs: Path) -> list[VectorDefinition]:
    """Return the definitions below ``specs``, sorted by message name; those without valid versions are left out.

    Raises SpecError for invalid JSON, ValueError for an invalid definition.
    """
    problems = Problems()
    found = []
    for path in sorted(specs.glob("*/*.json")):
        file = path.relative_to(specs).as_posix()
        node = load(path, file, problems)
        if node is not None:
            found.append(_definition(file, _object(node.plain(), file)))
    if problems.errors:
        raise SpecError(problems.errors)
    return sorted((definition for definition in found if not definition.versions.empty), key=lambda d: d.name)


def read_definition(path: Path, file: str) -> VectorDefinition:
    """Return one definition; ``file`` is the file name for its vectors. Raises SpecError and ValueError."""
    problems = Problems()
    node = load(path, file, problems)
    if node is None:
        raise SpecError(problems.errors)
    return _definition(file, _object(node.plain(), file))


def _definition(file: str, source: dict[str, object]) -> VectorDefinition:
    structs: dict[str, tuple[VectorField, ...]] = {}
    for common in _objects(source.get("commonStructs"), file):
        structs[_text(common, "name", file)] = _fields(common, structs, file)
    return VectorDefinition(
        name=_text(source, "name", file),
        type=_text(source, "type", file),
        file=file,
        versions=Versions.parse(_text(source, "validVersions", file)),
        flexible=_versions(source, "flexibleVersions"),
        fields=_fields(source, structs, file),
        structs=structs,
    )


def _fields(
    source: dict[str, object], structs: dict[str, tuple[VectorField, ...]], file: str
) -> tuple[VectorField, ...]:
    made = []
    for node in _objects(source.get("fields"), file):
        field = _field(node, file)
        made.append(field)
        if node.get("fields") is not None:
            structs[field.type] = _fields(node, structs, file)
    return tuple(made)


def _field(node: dict[str, object], file: str) -> VectorField:
    name, written = _text(node, "name", file), _text(node, "type", file).strip()
    default = node.get("default")
    tagged = _versions(node, "taggedVersions")
    return VectorField(
        key=name[0].lower() + name[1:],
        type=written.removeprefix("[]").strip(),
        is_array=written.startswith("[]"),
        versions=_versions(node, "versions") if "versions" in node else tagged,
        nullable=_versions(node, "nullableVersions"),
        tagged=tagged,
        is_map_key=node.get("mapKey") in (True, "true"),
        default=None if default is None else str(default),
    )


def _versions(node: dict[str, object], key: str) -> Versions:
    return Versions.parse(str(node[key])) if key in node else NONE


def _text(node: dict[str, object], key: str, file: str) -> str:
    value = node.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{file}: {key} must be a non-empty string, got {value!r}")
    return value


def _object(value: object, file: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{file}: expected a JSON object, found {value!r}")
    return value


def _objects(value: object, file: str) -> list[dict[str, object]]:
    nodes = [] if value is None else value if isinstance(value, list) else [value]
    return [_object(node, file) for node in nodes]
