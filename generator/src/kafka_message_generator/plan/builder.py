"""Construction of the plan of a message; versions with equal operations share a layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kafka_message_generator.plan import descriptor, model
from kafka_message_generator.rules import CheckedMessage
from kafka_message_generator.rules.defaults import default_of
from kafka_message_generator.rules.enumerations import EnumerationFields
from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.rules.secrets import SecretFields
from kafka_message_generator.spec.model import Encoding, Field, Message, Struct
from kafka_message_generator.spec.versions import Versions


def build(
    checked: CheckedMessage,
    file: str,
    response: str = "",
    enumerations: EnumerationFields | None = None,
    secrets: SecretFields | None = None,
) -> model.MessagePlan:
    """Build the plan of a checked message that is not removed.

    ``file`` is the definition's name in generated output, ``response`` the name of a request's response.
    ``enumerations`` and ``secrets`` annotate fields.
    """
    plan = _PlanBuilder(checked.message, _with_body(checked), file, enumerations or {}, secrets or {}).plan()
    return replace(plan, response=response)


def _with_body(checked: CheckedMessage) -> dict[str, Struct]:
    message = checked.message
    body = Struct(
        message.name,
        message.valid,
        message.fields,
        message.location,
        message.about,
        optional_fields=message.optional_fields,
    )
    return {**checked.structs, message.name: body}


@dataclass
class _Layouts:
    by_version: dict[int, model.LayoutRef] = field(default_factory=dict)
    by_operations: dict[tuple[model.Operation, ...], model.LayoutRef] = field(default_factory=dict)
    minimum_size: dict[int, int] = field(default_factory=dict)


@dataclass
class _PlanBuilder:
    message: Message
    structs: dict[str, Struct]
    file: str
    enumerations: EnumerationFields
    secrets: SecretFields
    layouts: dict[str, _Layouts] = field(default_factory=dict)

    def plan(self) -> model.MessagePlan:
        message = self.message
        for version in message.valid:
            self.layout(message.name, version)
        order = [name for name in self.dependency_order() if name in self.layouts]
        return model.MessagePlan(
            name=message.name,
            module=snake_case(message.name),
            kind=message.kind,
            file=self.file,
            api_key=message.api_key,
            valid=message.valid,
            flexible=message.flexible,
            structs=tuple(self.struct_plan(name) for name in order),
            descriptor_lines=descriptor.lines_of(message, self.structs, self.enumerations, self.secrets),
            about=message.about,
        )

    def dependency_order(self) -> list[str]:
        order: list[str] = []

        def visit(name: str) -> None:
            if name not in order:
                for member in self.structs[name].members:
                    if member.type.is_struct:
                        visit(member.type.name)
                order.append(name)

        visit(self.message.name)
        return order

    def layout(self, struct: str, version: int) -> model.LayoutRef:
        """Return the layout of a struct in a message version; equal layouts are built once."""
        known = self.layouts.setdefault(struct, _Layouts())
        if version not in known.by_version:
            operations = tuple(self.operations(self.structs[struct], version))
            ref = known.by_operations.setdefault(operations, model.LayoutRef(struct, version))
            known.by_version[version] = ref
            known.minimum_size[version] = sum(self.minimum(operation, version) for operation in operations)
        return known.by_version[version]

    def operations(self, struct: Struct, version: int) -> Iterator[model.Operation]:
        absent = [f for f in struct.members if version not in f.versions]
        tagged = [f for f in struct.fields if version in f.tagged]
        regular = [f for f in struct.fields if version in f.versions and version not in f.tagged]
        if version in self.message.with_optional:
            yield self.optional_buffer(struct, version)
        yield from model.joined_runs(self.payload(member, version, is_tagged=False) for member in regular)
        for member in absent:
            yield model.Default(snake_case(member.name), refuse=not member.ignorable)
        if version in self.message.flexible:
            yield self.tag_section(struct, tagged, version)
        elif version not in self.message.with_optional:
            yield model.NoSection()

    def tag_section(self, struct: Struct, tagged: list[Field], version: int) -> model.TaggedFields:
        fields = [model.Tagged(_tag(f), snake_case(f.name), self.payload(f, version, is_tagged=True)) for f in tagged]
        absent = [_tag(f) for f in struct.fields if f.tag is not None and f not in tagged]
        interleaved = self.message.tagged_field_format == "interleaved"
        return model.TaggedFields(tuple(sorted(fields, key=lambda f: f.tag)), tuple(sorted(absent)), interleaved)

    def optional_buffer(self, struct: Struct, version: int) -> model.OptionalBuffer:
        fields = [
            model.Tagged(_tag(f), snake_case(f.name), self.payload(f, version, is_tagged=False))
            for f in struct.optional_fields
        ]
        return model.OptionalBuffer(tuple(sorted(fields, key=lambda f: f.tag)))

    def payload(self, member: Field, version: int, is_tagged: bool) -> model.Payload:
        name = snake_case(member.name)
        nullable = version in member.nullable
        compact = version in self.message.flexible_at(member)
        if member.type.is_array:
            return self.array(name, member, compact, nullable, version)
        if member.type.is_struct:
            return model.Single(name, self.layout(member.type.name, version), nullable)
        if member.type.is_fixed:
            encoding = _encoding(member.encodings, version)
            if encoding is not None and encoding.form != "fixed":
                return model.Packed(name, encoding.bits, encoding.form == "packed")
            return model.FixedRun(
                (model.FixedField(name, member.type.name if encoding is None else f"int{encoding.bits}"),)
            )
        return (model.String if member.type.name == "string" else model.Bytes)(name, compact, nullable)

    def array(self, name: str, member: Field, compact: bool, nullable: bool, version: int) -> model.Array:
        if not member.type.is_struct:
            return model.Array(name, _element(member, version), compact, nullable)
        layout = self.layout(member.type.name, version)
        is_empty = self.layouts[member.type.name].minimum_size[version] == 0
        return model.Array(name, layout, compact, nullable, is_empty)

    def minimum(self, operation: model.Operation, version: int) -> int:
        """Return 0 if the encoded value can be empty, else a positive number."""
        if isinstance(operation, model.Default | model.NoSection):
            return 0
        if isinstance(operation, model.Single) and not operation.nullable:
            return self.layouts[operation.layout.struct].minimum_size[version]
        return 1

    def struct_plan(self, name: str) -> model.StructPlan:
        struct, layouts = self.structs[name], self.layouts[name]
        fields = tuple(self.field_plan(member) for member in struct.members)
        uses = list(self.uses(name))
        refs = sorted(set(layouts.by_version.values()), key=lambda ref: ref.version)
        operations = {ref: ops for ops, ref in layouts.by_operations.items()}
        versions = {ref: tuple(v for v, r in sorted(layouts.by_version.items()) if r == ref) for ref in refs}
        return model.StructPlan(
            name=name,
            about=struct.about,
            fields=fields,
            keys=tuple(plan for plan, member in zip(fields, struct.members, strict=True) if member.map_key),
            layouts=tuple(model.Layout(ref, operations[ref], versions[ref]) for ref in refs),
            is_message=name == self.message.name,
            singles=frozenset(ref.version for ref, is_array in uses if not is_array),
            arrays=frozenset(ref.version for ref, is_array in uses if is_array),
        )

    def uses(self, name: str) -> Iterator[tuple[model.LayoutRef, bool]]:
        for layouts in self.layouts.values():
            for operations in layouts.by_operations:
                for operation in _flatten(operations):
                    if isinstance(operation, model.Array) and isinstance(operation.element, model.LayoutRef):
                        if operation.element.struct == name:
                            yield operation.element, True
                    elif isinstance(operation, model.Single) and operation.layout.struct == name:
                        yield operation.layout, False

    def field_plan(self, member: Field) -> model.FieldPlan:
        null_in_use = member.nullable.intersect(member.versions).intersect(self.message.valid)
        default = default_of(member)
        is_keyed = member.type.is_struct and any(f.map_key for f in self.structs[member.type.name].fields)
        return model.FieldPlan(
            name=snake_case(member.name),
            definition_name=member.name,
            type=member.type.name,
            is_array=member.type.is_array,
            is_struct=member.type.is_struct,
            default=default,
            nullable=default is None or not null_in_use.empty,
            collection=member.type.is_array and is_keyed,
            versions=_bounded(member.versions, self.message.valid),
            about=member.about,
            is_tagged=not member.tagged.empty or member.is_optional,
        )


def _bounded(versions: Versions, valid: Versions) -> Versions:
    return versions if versions.highest >= valid.highest else versions.intersect(valid)


def _tag(member: Field) -> int:
    assert member.tag is not None  # ensured by the rules
    return member.tag


def _encoding(encodings: tuple[Encoding, ...], version: int) -> Encoding | None:
    return next((encoding for encoding in encodings if version in encoding.versions), None)


def _element(member: Field, version: int) -> str | model.PackedElement:
    encoding = _encoding(member.element_encodings, version)
    if encoding is None:
        return member.type.name
    if encoding.form == "fixed":
        return f"int{encoding.bits}"
    return model.PackedElement(encoding.bits, encoding.form == "packed")


def _flatten(operations: Iterable[model.Operation]) -> Iterator[model.Operation]:
    for operation in operations:
        if isinstance(operation, model.TaggedFields | model.OptionalBuffer):
            yield from (tagged.payload for tagged in operation.fields)
        else:
            yield operation
