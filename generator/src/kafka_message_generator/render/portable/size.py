"""Lowers a layout to the statements that count its bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kafka_message_generator.plan.model import (
    Array,
    Bytes,
    Default,
    FixedRun,
    Layout,
    LayoutRef,
    MessagePlan,
    NoSection,
    Operation,
    OptionalBuffer,
    Packed,
    PackedElement,
    Payload,
    String,
    StructPlan,
    Tagged,
    TagSection,
)
from kafka_message_generator.render import literals, naming
from kafka_message_generator.render.code import Part, call, code, negated, not_, use
from kafka_message_generator.render.sections import Form, Section, form_of, section_of
from kafka_message_generator.render.steps import Assign, Choose, Do, Function, Step
from kafka_message_generator.spec.model import FIXED_WIDTHS

REFUSED = Do(code("raise {}", use("Refused")))
MORE = call(use("uvarint_size"), "n + 1")
"""The bytes of a compact length."""


def functions(message: MessagePlan, struct: StructPlan, layout: Layout) -> Iterable[Function]:
    """The sizing functions of one layout: for one struct, for an array's elements, for its tagged fields."""
    section = section_of(layout.operations)
    if section is not None and section.fields:
        yield _section_function(message, struct, layout.ref, section)
    lowering = _Lowering(message, struct, layout.ref)
    body = tuple(lowering.lower(layout.operations))
    after = (Do("return size"),)
    if struct.is_message or layout.ref.version in struct.singles:
        start = (Assign("size", str(lowering.constant)),)
        name = naming.function("size", layout.ref)
        yield Function(name, f"x: {struct.name}", "int", body, before=start, after=after)
    if layout.ref.version in struct.arrays:
        steps = (Do(f"size += {lowering.constant}"), *body)
        name = naming.function_all("size", layout.ref)
        parameters = code("items: {}[{}]", use("Iterable"), struct.name)
        yield Function(
            name, parameters, "int", steps, before=(Assign("size", "0"),), loop="for x in items", after=after
        )


@dataclass
class _Lowering:
    """Statements that add to ``size``; what every value has in common is in ``constant``."""

    message: MessagePlan
    struct: StructPlan
    ref: LayoutRef
    steps: list[Step] = field(default_factory=list)
    constant: int = 0
    is_present: bool = False
    """Whether a nullable value was already found not to be null."""

    def lower(self, operations: Iterable[Operation]) -> list[Step]:
        for operation in operations:
            if isinstance(operation, NoSection):
                self.steps.append(Choose((("x.unknown_tagged_fields", (REFUSED,)),)))
            elif isinstance(operation, TagSection | OptionalBuffer):
                self.section(operation)
            elif not isinstance(operation, Default):
                self.payload(operation)
        return self.steps

    def payload(self, operation: Payload) -> None:
        if isinstance(operation, FixedRun):
            self.constant += operation.width
        elif isinstance(operation, Packed):
            self.steps.append(_add(call("len", literals.packed(operation, f"x.{operation.name}"))))
        elif isinstance(operation, String):
            self.counted(operation, call(use("string_length"), f"len(x.{operation.name}.encode())"), 2)
        elif isinstance(operation, Bytes):
            self.counted(operation, f"len(x.{operation.name})", 4)
        elif isinstance(operation, Array):
            self.array(operation)
        else:
            self.constant += operation.nullable
            step = _add(call(naming.function("size", operation.layout), f"x.{operation.name}"))
            self.unless_null(operation.name, operation.nullable, (step,))

    def unless_null(self, name: str, nullable: bool, steps: tuple[Step, ...]) -> None:
        if nullable and not self.is_present:
            self.steps.append(Choose(((f"x.{name} is not None", steps),)))
            return
        if self.struct.field(name).nullable and not self.is_present:
            self.steps.append(Choose(((f"x.{name} is None", (REFUSED,)),)))
        self.steps += steps

    def counted(self, operation: String | Bytes, length: Part, prefix: int) -> None:
        if operation.compact:
            self.constant += 1  # the first byte of the length, which null has too
            size = code("n if n < 127 else n + {} - 1", MORE)
            steps = (Assign("n", length), _add(size))
            self.unless_null(operation.name, operation.nullable, steps)
        else:
            self.constant += prefix
            self.unless_null(operation.name, operation.nullable, (_add(length),))

    def array(self, operation: Array) -> None:
        value = f"x.{operation.name}"
        self.constant += 1 if operation.compact else 4
        steps: list[Step] = [_add(_elements_size(operation, value))]
        if operation.compact:
            steps += [Assign("n", f"len({value})"), Choose((("n > 126", (_add(code("{} - 1", MORE)),)),))]
        self.unless_null(operation.name, operation.nullable, tuple(steps))

    def section(self, section: Section) -> None:
        self.constant += 1
        fields = [self.struct.field(tagged.name) for tagged in section.fields]
        tests = [
            test
            for f in fields
            for test in literals.tagged_tests(self.message, self.struct, f, f"x.{literals.slot(self.struct, f)}")
        ]
        form = form_of(section)
        if not tests:
            step = _add(code("{} - 1", call(use(form.size), "0", "0", "x.unknown_tagged_fields")))
            self.steps.append(Choose((("x.unknown_tagged_fields", (step,)),)))
            return
        step = _add(code("{} - 1", call(naming.function(f"size_{form.function}", self.ref), "x")))
        self.steps.append(Choose(((negated([*tests, not_("x.unknown_tagged_fields")]), (step,)),)))


def _section_function(message: MessagePlan, struct: StructPlan, ref: LayoutRef, section: Section) -> Function:
    form = form_of(section)
    return Function(
        naming.function(f"size_{form.function}", ref),
        f"x: {struct.name}",
        "int",
        tuple(_tagged(message, struct, ref, tagged, form) for tagged in section.fields),
        before=(Assign("count", "0"), Assign("total", "0")),
        after=(Do(code("return {}", call(use(form.size), "count", "total", "x.unknown_tagged_fields"))),),
    )


def _tagged(message: MessagePlan, struct: StructPlan, ref: LayoutRef, tagged: Tagged, form: Form) -> Step:
    field_plan = struct.field(tagged.name)
    tests = literals.tagged_tests(message, struct, field_plan, f"x.{literals.slot(struct, field_plan)}")
    lowering = _Lowering(message, struct, ref, is_present=field_plan.default is None)
    lowering.payload(tagged.payload)
    body = (
        Assign("size", str(lowering.constant)),
        *lowering.steps,
        Do("count += 1"),
        Do(code("total += {}", call(use(form.field_size), str(tagged.tag), "size"))),
    )
    return Choose(((negated(tests), body),))


def _add(value: Part) -> Step:
    return Do(code("size += {}", value))


def _elements_size(operation: Array, value: str) -> Part:
    element = operation.element
    if isinstance(element, LayoutRef):
        return call(naming.function_all("size", element), value)
    if isinstance(element, PackedElement):
        return call("len", call(use(f"{element}_elements"), value))
    if element in FIXED_WIDTHS:
        width = FIXED_WIDTHS[element]
        return f"len({value}) * {width}" if width > 1 else f"len({value})"
    compact = "compact_" if operation.compact else ""
    return call(use(f"{compact}{'string' if element == 'string' else 'bytes'}_array_size"), value)
