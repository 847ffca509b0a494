"""The plan of a message: layouts of its structs by version, as ordered operations.

``str()`` gives the form of the golden files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kafka_message_generator.rules.defaults import Empty, Value
from kafka_message_generator.spec.model import FIXED_WIDTHS
from kafka_message_generator.spec.versions import Versions


@dataclass(frozen=True)
class LayoutRef:
    """Reference to a layout, by its struct and its first version."""

    struct: str
    version: int

    def __str__(self) -> str:
        return f"{self.struct}@{self.version}"


@dataclass(frozen=True)
class FixedField:
    name: str
    type: str

    @property
    def width(self) -> int:
        return FIXED_WIDTHS[self.type]

    def __str__(self) -> str:
        return f"{self.name}:{self.type}"


@dataclass(frozen=True)
class FixedRun:
    """Adjacent fixed-width fields, packed and unpacked together."""

    fields: tuple[FixedField, ...]

    @property
    def width(self) -> int:
        return sum(field.width for field in self.fields)

    def __str__(self) -> str:
        return f"FixedRun({', '.join(map(str, self.fields))})"


@dataclass(frozen=True)
class Packed:
    """An integer as a varint of up to ``bits`` bits: zig-zag if ``signed``, else the plain two's complement."""

    name: str
    bits: int
    signed: bool

    def __str__(self) -> str:
        return f"Packed({self.name}, {'' if self.signed else 'u'}{self.bits})"


@dataclass(frozen=True)
class PackedElement:
    """A varint as array element; see ``Packed``."""

    bits: int
    signed: bool

    def __str__(self) -> str:
        return f"{'' if self.signed else 'u'}packed{self.bits}"


@dataclass(frozen=True)
class String:
    name: str
    compact: bool
    nullable: bool

    def __str__(self) -> str:
        return f"String({self.name}{_flags(self.compact, self.nullable)})"


@dataclass(frozen=True)
class Bytes:
    name: str
    compact: bool
    nullable: bool

    def __str__(self) -> str:
        return f"Bytes({self.name}{_flags(self.compact, self.nullable)})"


@dataclass(frozen=True)
class Array:
    """An array; ``element`` is a primitive type, a varint, or the layout of a struct."""

    name: str
    element: str | LayoutRef | PackedElement
    compact: bool
    nullable: bool
    empty_elements: bool = False  # if True, the remaining bytes do not limit the count

    def __str__(self) -> str:
        flags = _flags(self.compact, self.nullable) + (", empty elements" if self.empty_elements else "")
        return f"Array({self.name}, {self.element}{flags})"


@dataclass(frozen=True)
class Single:
    """A field with one struct; a nullable one starts with a presence byte, or in a tagged field with a varint."""

    name: str
    layout: LayoutRef
    nullable: bool

    def __str__(self) -> str:
        return f"Struct({self.name}, {self.layout}{_flags(False, self.nullable)})"


@dataclass(frozen=True)
class Default:
    """A field that the layout lacks: set to its default on read. Other values are dropped on write, or rejected if
    ``refuse`` is true.
    """

    name: str
    refuse: bool

    def __str__(self) -> str:
        return f"Default({self.name}{', refuse' if self.refuse else ''})"


Payload = FixedRun | Packed | String | Bytes | Array | Single


@dataclass(frozen=True)
class Tagged:
    """A tagged field: its tag, and the operation that encodes its value."""

    tag: int
    name: str
    payload: Payload

    def __str__(self) -> str:
        return f"{self.tag}={self.payload}"


@dataclass(frozen=True)
class TaggedFields:
    fields: tuple[Tagged, ...]
    absent: tuple[int, ...] = ()  # declared tags that are invalid in this version
    interleaved: bool = False  # whether tag and size share one varlong with interleaved bits

    def __str__(self) -> str:
        absent = f"; not {', '.join(map(str, self.absent))}" if self.absent else ""
        kind = "InterleavedTagSection" if self.interleaved else "TagSection"
        return f"{kind}({', '.join(map(str, self.fields))}{absent})"


@dataclass(frozen=True)
class OptionalBuffer:
    """The optional-field buffer at the start of a struct: length, then tag and value of each field."""

    fields: tuple[Tagged, ...]

    def __str__(self) -> str:
        return f"OptionalBuffer({', '.join(map(str, self.fields))})"


@dataclass(frozen=True)
class NoSection:
    """The end of a struct without tags: unknown tagged fields are empty on read, and rejected on write."""

    def __str__(self) -> str:
        return "NoSection()"


Operation = Payload | Default | TaggedFields | OptionalBuffer | NoSection
AnyOperation = TypeVar("AnyOperation", bound=Operation)


def joined_runs(operations: Iterable[AnyOperation]) -> Iterator[AnyOperation | FixedRun]:
    """Yield operations in order, with adjacent fixed-width fields joined."""
    run: tuple[FixedField, ...] = ()
    for operation in operations:
        if isinstance(operation, FixedRun):
            run += operation.fields
            continue
        if run:
            yield FixedRun(run)
            run = ()
        yield operation
    if run:
        yield FixedRun(run)


@dataclass(frozen=True)
class Layout:
    ref: LayoutRef
    operations: tuple[Operation, ...]
    versions: tuple[int, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.ref} in {ranges(self.versions)}:", *(f"  {operation}" for operation in self.operations)]
        return "\n".join(lines)


@dataclass(frozen=True)
class FieldPlan:
    """A field as a Python attribute."""

    name: str
    definition_name: str
    type: str
    is_array: bool
    is_struct: bool
    default: Value
    nullable: bool  # in any version or by default; then the Python type is optional
    collection: bool  # keyed collection instead of a list
    versions: Versions
    about: str
    is_tagged: bool = False

    @property
    def is_lazy_default(self) -> bool:
        """Whether the default struct is created on first access."""
        return self.is_tagged and self.default is Empty.STRUCT and not self.nullable


@dataclass(frozen=True)
class StructPlan:
    name: str
    about: str
    fields: tuple[FieldPlan, ...]
    keys: tuple[FieldPlan, ...]
    layouts: tuple[Layout, ...]
    is_message: bool = False
    singles: frozenset[int] = frozenset()  # first versions of the layouts that struct fields use
    arrays: frozenset[int] = frozenset()  # first versions of the layouts that arrays use

    def field(self, name: str) -> FieldPlan:
        return next(field for field in self.fields if field.name == name)

    def __str__(self) -> str:
        return "\n".join(map(str, self.layouts))


@dataclass(frozen=True)
class MessagePlan:
    """A message: its structs, each after those it contains, so the message itself is last."""

    name: str
    module: str
    kind: str
    file: str
    api_key: int | None
    valid: Versions
    flexible: Versions
    structs: tuple[StructPlan, ...]
    descriptor_lines: tuple[str, ...]  # JSON of the definition, one line for each field
    about: str
    response: str = ""  # response of a request; empty for one-way requests and other kinds

    @property
    def descriptor(self) -> str:
        return "".join(self.descriptor_lines)

    @property
    def body(self) -> StructPlan:
        return self.structs[-1]

    def struct(self, name: str) -> StructPlan:
        return next(struct for struct in self.structs if struct.name == name)

    def __str__(self) -> str:
        return "\n".join(map(str, self.structs)) + "\n"


def _flags(compact: bool, nullable: bool) -> str:
    return (", compact" if compact else "") + (", nullable" if nullable else "")


def ranges(versions: Iterable[int]) -> str:
    """Format versions as ranges: ``0-2, 5`` for 0, 1, 2 and 5."""
    runs: list[list[int]] = []
    for version in versions:
        if runs and version == runs[-1][1] + 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    return ", ".join(str(Versions(*run)) for run in runs)
