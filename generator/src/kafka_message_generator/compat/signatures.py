"""Wire signatures: the encoding of a message version as a sequence of elements, which are values, arrays and tag sections.

Equal signatures mean equal bytes. Names do not affect equality, and a struct without tags equals the sequence of its fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_message_generator.plan import model
from kafka_message_generator.rules.defaults import Empty, Value
from kafka_message_generator.runtime._core.formatting import formatted


@dataclass(frozen=True)
class FixedWidth:
    """A value without a length: ``int32``, ``uuid``, ``varint32`` (zig-zag), ``uvarint64`` (unsigned)."""

    label: str = field(compare=False)
    form: str

    def __str__(self) -> str:
        return self.form


@dataclass(frozen=True)
class LengthPrefixed:
    label: str = field(compare=False)
    form: str
    """``string``, or ``bytes`` for bytes and records."""
    compact: bool
    nullable: bool

    def __str__(self) -> str:
        return _marked(self.form, self.compact, self.nullable)


@dataclass(frozen=True)
class CountPrefixed:
    label: str = field(compare=False)
    compact: bool
    nullable: bool
    element: WireSignature

    def __str__(self) -> str:
        return _marked(f"[{_text(self.element)}]", self.compact, self.nullable)


@dataclass(frozen=True)
class Nullable:
    """A nullable struct; its presence marker is a byte, or a varint in a tagged field."""

    label: str = field(compare=False)
    is_tagged: bool
    inside: WireSignature

    def __str__(self) -> str:
        return f"{'varint' if self.is_tagged else 'int8'}?({_text(self.inside)})"


@dataclass(frozen=True)
class TagElement:
    label: str = field(compare=False)
    tag: int
    value: WireSignature
    default: str
    """Default value as text; for a struct, the defaults of its regular fields."""

    def __str__(self) -> str:
        return f"{self.tag}=({_text(self.value)}):{self.default}"


@dataclass(frozen=True)
class Tags:
    """A section of tagged fields at the end of a struct, or (with the form ``optional``) of optional fields at its start."""

    label: str = field(compare=False)
    form: str  # ``sequential``, ``interleaved`` or ``optional``
    fields: tuple[TagElement, ...]
    absent: tuple[int, ...] = field(default=(), compare=False)
    """Tags that other versions define and this version rejects."""

    def __str__(self) -> str:
        return f"{self.form}{{{', '.join(map(str, self.fields))}}}"


SignatureElement = FixedWidth | LengthPrefixed | CountPrefixed | Nullable | Tags
WireSignature = tuple[SignatureElement, ...]


def signature_of(plan: model.MessagePlan, version: int) -> WireSignature:
    return _Unfolder(plan).layout(plan.body, version, "")


def digest(signature: WireSignature) -> str:
    """Return 16 hexadecimal digits that identify a signature."""
    return hashlib.sha256(_text(signature).encode()).hexdigest()[:16]


def labels(signature: WireSignature) -> Iterator[str]:
    """Yield the field paths in wire order, nested fields after their parent."""
    for element in signature:
        if isinstance(element, Tags):
            for each in element.fields:
                yield from (each.label, *labels(each.value)) if _is_struct(each.value) else (each.label,)
        else:
            yield element.label
            if isinstance(element, CountPrefixed):
                yield from labels(element.element)
            elif isinstance(element, Nullable):
                yield from labels(element.inside)


def tag_signatures(signature: WireSignature) -> Iterator[TagElement]:
    """Yield the tagged fields, nested fields after their parent."""
    for element in signature:
        if isinstance(element, Tags):
            for each in element.fields:
                yield from (each, *tag_signatures(each.value))
        elif isinstance(element, CountPrefixed):
            yield from tag_signatures(element.element)
        elif isinstance(element, Nullable):
            yield from tag_signatures(element.inside)


def _is_struct(signature: WireSignature) -> bool:
    return len(signature) != 1 or isinstance(signature[0], CountPrefixed | Nullable)


def _text(signature: WireSignature) -> str:
    return ", ".join(map(str, signature))


def _marked(text: str, compact: bool, nullable: bool) -> str:
    return f"{'compact ' if compact else ''}{text}{'?' if nullable else ''}"


class _Unfolder:
    def __init__(self, plan: model.MessagePlan) -> None:
        self._structs = {struct.name: struct for struct in plan.structs}

    def layout(self, struct: model.StructPlan, version: int, path: str) -> WireSignature:
        found = next(layout for layout in struct.layouts if version in layout.versions)
        return tuple(self._elements(struct, found, path))

    def _elements(self, struct: model.StructPlan, layout: model.Layout, path: str) -> Iterator[SignatureElement]:
        for operation in layout.operations:
            if isinstance(operation, model.TaggedFields):
                form = "interleaved" if operation.interleaved else "sequential"
                yield self._section(struct, operation.fields, form, path, layout.ref.version, operation.absent)
            elif isinstance(operation, model.OptionalBuffer):
                yield self._section(struct, operation.fields, "optional", path, layout.ref.version)
            else:
                yield from self._payload(struct, operation, path, is_tagged=False)

    def _section(
        self,
        struct: model.StructPlan,
        fields: tuple[model.Tagged, ...],
        form: str,
        path: str,
        version: int,
        absent: tuple[int, ...] = (),
    ) -> Tags:
        is_tagged = form != "optional"
        elements = tuple(
            TagElement(
                _label(struct, tagged.name, path),
                tagged.tag,
                tuple(self._payload(struct, tagged.payload, path, is_tagged)),
                self._default(struct, tagged.name, version),
            )
            for tagged in fields
        )
        return Tags(path, form, elements, absent)

    def _payload(
        self, struct: model.StructPlan, operation: model.Payload | model.Operation, path: str, is_tagged: bool
    ) -> Iterator[SignatureElement]:
        if isinstance(operation, model.FixedRun):
            for member in operation.fields:
                yield FixedWidth(_label(struct, member.name, path), member.type)
            return
        if not isinstance(operation, model.Packed | model.String | model.Bytes | model.Array | model.Single):
            return  # absent fields take no bytes
        label = _label(struct, operation.name, path)
        if isinstance(operation, model.Packed):
            yield FixedWidth(label, _varint(operation))
        elif isinstance(operation, model.String | model.Bytes):
            form = "string" if isinstance(operation, model.String) else "bytes"
            yield LengthPrefixed(label, form, operation.compact, operation.nullable)
        elif isinstance(operation, model.Array):
            element = tuple(self._array_element(struct, operation, f"{label}[]"))
            yield CountPrefixed(label, operation.compact, operation.nullable, element)
        elif operation.nullable:
            yield Nullable(label, is_tagged, self._inner(operation.layout, label))
        else:
            yield from self._inner(operation.layout, label)

    def _array_element(
        self, struct: model.StructPlan, operation: model.Array, label: str
    ) -> Iterator[SignatureElement]:
        if isinstance(operation.element, model.LayoutRef):
            yield from self._inner(operation.element, label)
        elif isinstance(operation.element, model.PackedElement):
            yield FixedWidth(label, _varint(operation.element))
        elif operation.element in ("string", "bytes", "records"):
            form = "string" if operation.element == "string" else "bytes"
            yield LengthPrefixed(label, form, operation.compact, nullable=False)
        else:
            yield FixedWidth(label, operation.element)

    def _inner(self, ref: model.LayoutRef, path: str) -> WireSignature:
        return self.layout(self._structs[ref.struct], ref.version, path)

    def _default(self, struct: model.StructPlan, name: str, version: int) -> str:
        member = struct.field(name)
        if member.default is Empty.STRUCT:
            inner = self._structs[member.type]
            present = _regular(next(layout for layout in inner.layouts if version in layout.versions))
            return "(" + ", ".join(self._default(inner, each, version) for each in present) + ")"
        return _shown(member.default)


def _regular(layout: model.Layout) -> Iterator[str]:
    for operation in layout.operations:
        if isinstance(operation, model.FixedRun):
            yield from (member.name for member in operation.fields)
        elif isinstance(operation, model.Packed | model.String | model.Bytes | model.Array | model.Single):
            yield operation.name


def _label(struct: model.StructPlan, name: str, path: str) -> str:
    own = struct.field(name).definition_name
    return f"{path}.{own}" if path else own


def _varint(operation: model.Packed | model.PackedElement) -> str:
    return f"{'' if operation.signed else 'u'}varint{operation.bits}"


def _shown(value: Value) -> str:
    return "[]" if value is Empty.ARRAY else formatted(value)


@dataclass(frozen=True)
class Inside:
    path: str
    signature: WireSignature


def insides(one: WireSignature, two: WireSignature) -> Iterator[tuple[Inside, Inside]]:
    """Yield the contents of each pair of fields with the same position or tag."""
    for before, after in zip(one, two, strict=False):
        if isinstance(before, Tags) and isinstance(after, Tags):
            yield from inside_tags(before, after)
        elif isinstance(before, CountPrefixed | Nullable) and type(before) is type(after):
            yield inside_of(before), inside_of(after)


def inside_tags(one: Tags, two: Tags) -> Iterator[tuple[Inside, Inside]]:
    values = {each.tag: Inside(each.label, each.value) for each in two.fields}
    for each in one.fields:
        if each.tag in values:
            yield Inside(each.label, each.value), values[each.tag]


def inside_of(element: CountPrefixed | Nullable) -> Inside:
    return (
        Inside(f"{element.label}[]", element.element)
        if isinstance(element, CountPrefixed)
        else Inside(element.label, element.inside)
    )


Above = tuple[Inside, Inside]
"""The parents of two compared wire signatures."""
TOP = (Inside("", ()), Inside("", ()))
