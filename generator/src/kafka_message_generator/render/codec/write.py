"""Lowering of a layout to statements that write it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from kafka_message_generator.plan import model
from kafka_message_generator.render import literals, naming
from kafka_message_generator.render.code import (
    Code,
    Part,
    bound,
    call,
    code,
    equal,
    is_,
    is_not,
    joined,
    negated,
    not_,
    use,
)
from kafka_message_generator.render.naming import Form, Section, form_of, section_of
from kafka_message_generator.render.steps import Assign, Choose, Do, Function, Step
from kafka_message_generator.rules.defaults import Empty
from kafka_message_generator.spec.model import INTEGERS

SHORT_TABLES = {"int8": "PACK_B", "int16": "PACK_H", "int32": "PACK_I", "int64": "PACK_Q"}
# Element types written by a struct of their format; others have a helper.
FIXED_ELEMENTS = ("float64", *INTEGERS)
REFUSE = Do(code("raise {}", use("Refused")))


def _put(value: Part) -> Do:
    return Do(call("out.append", value))


COMPACT_LENGTH = _put(code("{}[n + 1]", use("VARINTS")))


def functions(message: model.MessagePlan, struct: model.StructPlan, layout: model.Layout) -> Iterable[Function]:
    """Yield the generated functions that write a struct, arrays of it, and its tagged fields."""
    section = section_of(layout.operations)
    if section is not None and section.fields:
        yield _section_function(message, struct, layout.ref, section)
    body = tuple(_WriteLowering(message, struct, layout.ref).lower(layout.operations))
    if struct.is_message or layout.ref.version in struct.singles:
        yield Function(naming.function("write", layout.ref), f"out: list[bytes], x: {struct.name}", "None", body)
    if layout.ref.version in struct.arrays:
        parameters = code("out: list[bytes], items: {}[{}]", use("Iterable"), struct.name)
        yield Function(naming.function_all("write", layout.ref), parameters, "None", body, loop="for x in items")


@dataclass
class _WriteLowering:
    message: model.MessagePlan
    struct: model.StructPlan
    ref: model.LayoutRef
    steps: list[Step] = field(default_factory=list)
    waiting: tuple[model.FixedField, ...] = ()
    # The previous integer array; the variable ``s`` holds its bytes.
    twin: model.Array | None = None
    next_is_twin: bool = False
    # Nullable value known to be not null.
    known_present: model.Payload | None = None

    def lower(self, operations: Sequence[model.Operation]) -> list[Step]:
        for operation in operations:
            if isinstance(operation, model.Default) and operation.refuse:
                self.refuse(operation)
            elif isinstance(operation, model.NoSection):
                self.steps.append(Choose((("x.unknown_tagged_fields", (REFUSE,)),)))
        written = [operation for operation in operations if not isinstance(operation, model.Default | model.NoSection)]
        for operation, following in zip(written, [*written, None][1:], strict=True):
            if isinstance(operation, model.FixedRun):
                self.waiting += operation.fields
            elif isinstance(operation, model.TaggedFields | model.OptionalBuffer):
                self.section(operation)
            else:
                self.next_is_twin = _are_twins(operation, following)
                self.payload(operation)
        self.prefix("", "")
        return self.steps

    def refuse(self, operation: model.Default) -> None:
        # Reject a value that the layout cannot carry, unless it is the default.
        field_plan = self.struct.field(operation.name)
        value = f"x.{literals.slot(self.struct, field_plan)}"
        tests = literals.tagged_tests(self.message, self.struct, field_plan, value)
        self.steps.append(Choose(((negated(tests), (REFUSE,)),)))

    def prefix(self, letter: str, value: Part) -> None:
        arguments = [_argument(fixed) for fixed in self.waiting] + ([value] if letter else [])
        codes = tuple(_letter(fixed) for fixed in self.waiting) + ((letter,) if letter else ())
        self.waiting = ()
        if codes:
            self.steps.append(_put(call(bound("pack", codes), *arguments)))

    def prefix_or(self, test: Part, value: str, otherwise: tuple[Step, ...], then: tuple[Step, ...] = ()) -> None:
        # Write the pending fields and the byte ``value`` if ``test`` holds, else the fields and ``otherwise``.
        waiting = self.waiting
        fused = self.separately("B", value)
        self.waiting = waiting
        plain = self.separately("", "")
        self.steps.append(Choose(((test, (*fused, *then)), ("", (*plain, *otherwise)))))

    def separately(self, letter: str, value: Part) -> list[Step]:
        steps, self.steps = self.steps, []
        self.prefix(letter, value)
        added, self.steps = self.steps, steps
        return added

    def length(self, compact: bool, letter: str, is_text: bool = False) -> None:
        length = _put(code("{}[n + 1]", use("TEXT_LENGTHS"))) if is_text else COMPACT_LENGTH
        if not compact:
            self.prefix(letter, "n")
        elif self.waiting:
            self.prefix_or("n < 127", "n + 1", (length,))
        else:
            self.steps.append(length)

    def payload(self, operation: model.Payload) -> None:
        if isinstance(operation, model.FixedRun):
            self.waiting += operation.fields
            self.prefix("", "")
            return
        if isinstance(operation, model.Packed):
            self.prefix("", "")
            self.steps.append(_put(literals.packed(operation, f"x.{operation.name}")))
            return
        self.refuse_null(operation)
        if isinstance(operation, model.String):
            self.measured(operation, ".encode()")
            self.length(operation.compact, "h", is_text=True)
            self.steps.append(_put("s"))
        elif isinstance(operation, model.Bytes):
            self.measured(operation, "")
            self.length(operation.compact, "i")
            self.steps.append(_put("s"))
        elif isinstance(operation, model.Array):
            self.array(operation)
        else:
            self.single(operation, "b", "-1", "1")

    def refuse_null(self, operation: model.String | model.Bytes | model.Array | model.Single) -> None:
        if self.struct.field(operation.name).nullable and not operation.nullable and operation != self.known_present:
            self.steps.append(Choose(((is_(f"x.{operation.name}", None), (REFUSE,)),)))

    def measured(self, operation: model.String | model.Bytes, convert: str) -> None:
        value = f"x.{operation.name}"
        steps: tuple[Step, ...] = (Assign("s", f"{value}{convert}"), Assign("n", "len(s)"))
        if operation.nullable:
            null = (Assign("s", 'b""'), Assign("n", "-1"))
            self.steps.append(Choose(((is_(value, None), null), ("", steps))))
        else:
            self.steps += steps

    def array(self, operation: model.Array) -> None:
        value = f"x.{operation.name}"
        if operation.element in INTEGERS and not operation.nullable:
            self.integers(operation)
            return
        count = f"-1 if {value} is None else len({value})" if operation.nullable else f"len({value})"
        self.steps.append(Assign("n", count))
        self.length(operation.compact, "i")
        some = value if operation.nullable else "n"
        self.steps.append(Choose(((some, (_elements(operation),)), _no_list(value))))

    def integers(self, operation: model.Array) -> None:
        # Never null. Few integers are packed by one struct, many by a helper.
        # Successive arrays are often equal (replicas and in-sync replicas); the second one reuses the bytes ``s``.
        first, self.twin = self.twin, None
        value = f"x.{operation.name}"
        count = Assign("n", f"len({value})")
        if first is not None:
            same = (_length_again(operation), _put("s"))
            different = (count, *self.counted(operation, _put))
            self.steps.append(Choose(((equal(value, f"x.{first.name}"), same), ("", different))))
        elif self.next_is_twin:
            self.twin = operation
            self.steps += [count, *self.counted(operation, lambda bytes_: Assign("s", bytes_)), _put("s")]
        else:
            self.steps += [count, *self.counted(operation, _put)]

    def counted(self, operation: model.Array, done: Callable[[Part], Step]) -> list[Step]:
        element, value = str(operation.element), f"x.{operation.name}"
        table = SHORT_TABLES.get(element)
        many = done(_elements_of(element, value))
        few = done(code("{}[n](*{})", use(table), value)) if table else many
        is_put = isinstance(few, Do)
        if not operation.compact:
            prefix = self.separately("i", "n")
            body: Step = Choose((("n < 16", (few,)), ("", (many,))) if table else (("n", (many,)),))
            return [*prefix, Choose((("n", (body,)),)) if is_put and table else body]
        length = COMPACT_LENGTH
        if self.waiting:
            waiting = self.waiting
            fused = self.separately("B", "n + 1")
            self.waiting = waiting
            some: Step = Choose((("n", (few,)),)) if is_put else few
            return [Choose((("n < 16", (*fused, some)), ("", (*self.separately("", ""), length, many))))]
        branches = [("n < 16", (length, few)), ("", (length, many))] if table else [("", (length, many))]
        none = ("not n", (_put('b"\\1"'),) if is_put else (_put('b"\\1"'), done('b""')))
        return [Choose((none, *branches))]

    def single(self, operation: model.Single, letter: str, null: str, present: str) -> None:
        value = f"x.{operation.name}"
        write = Do(call(naming.function("write", operation.layout), "out", value))
        if operation.nullable:
            self.prefix(letter, code("{} if {} else {}", null, is_(value, None), present))
            self.steps.append(Choose(((is_not(value, None), (write,)),)))
        else:
            self.prefix("", "")
            self.steps.append(write)

    def section(self, section: Section) -> None:
        tests = []
        for plan in (self.struct.field(tagged.name) for tagged in section.fields):
            value = f"x.{literals.slot(self.struct, plan)}"
            if plan.default is Empty.STRUCT:  # tested field by field
                self.steps.append(Assign(f"d_{plan.name}", value))
                value = f"d_{plan.name}"
            tests += _default_tests(self.message, self.struct, plan, value)
        form = form_of(section)
        if section.fields:
            write = Do(call(naming.function(f"write_{form.function}", self.ref), "out", "x"))
        else:
            write = _put(_section_bytes(form, "{}", section))
        test = joined(" and ", [*tests, not_("x.unknown_tagged_fields")])
        if self.waiting:
            self.prefix_or(test, "0", (write,))
        else:
            self.steps.append(Choose(((test, (_put('b"\\0"'),)), ("", (write,)))))

    def tagged_payload(self, payload: model.Payload, is_present: bool, is_optional: bool) -> list[Step]:
        # ``is_present``: the default is null, so the value is not.
        if isinstance(payload, model.Single):
            # The presence of a tagged struct is an unsigned varint, that of a regular one an int8.
            if is_present and payload.nullable:
                self.steps.append(_put('b"\\1"'))
                payload = replace(payload, nullable=False)
            if is_optional:
                self.single(payload, "b", "-1", "1")
            else:
                self.single(payload, "B", "0", "1")
            return self.steps
        if is_present and not isinstance(payload, model.FixedRun | model.Packed):
            payload = replace(payload, nullable=False)
            self.known_present = payload
        self.payload(payload)
        return self.steps


def _default_tests(
    message: model.MessagePlan, struct: model.StructPlan, plan: model.FieldPlan, value: str
) -> list[Code]:
    # An empty string or dict is not the default: the code that writes the array rejects it.
    tests = literals.tagged_tests(message, struct, plan, value)
    may_show = plan.default is Empty.ARRAY and plan.type not in INTEGERS
    return [*tests, code("type({}) not in {}", value, use("NO_LISTS"))] if may_show else tests


def _section_function(
    message: model.MessagePlan, struct: model.StructPlan, ref: model.LayoutRef, section: Section
) -> Function:
    form, is_optional = form_of(section), isinstance(section, model.OptionalBuffer)
    steps = tuple(_tagged(message, struct, ref, tagged, is_optional) for tagged in section.fields)
    return Function(
        naming.function(f"write_{form.function}", ref),
        f"parent: list[bytes], x: {struct.name}",
        "None",
        steps,
        before=(Assign("known: dict[int, bytes]", "{}"), Assign("out: list[bytes]", "[]")),
        after=(Do(call("parent.append", _section_bytes(form, "known", section))),),
    )


def _section_bytes(form: Form, known: str, section: Section) -> Code:
    # Unknown fields may not use declared tags.
    absent = section.absent if isinstance(section, model.TaggedFields) else ()
    reserved = sorted([*(tagged.tag for tagged in section.fields), *absent])
    more = (f"({', '.join(map(str, reserved))},)",) if reserved else ()
    return call(use(form.join), known, "x.unknown_tagged_fields", *more)


def _tagged(
    message: model.MessagePlan, struct: model.StructPlan, ref: model.LayoutRef, tagged: model.Tagged, is_optional: bool
) -> Step:
    field_plan = struct.field(tagged.name)
    tests = _default_tests(message, struct, field_plan, f"x.{literals.slot(struct, field_plan)}")
    payload = _WriteLowering(message, struct, ref).tagged_payload(
        tagged.payload, field_plan.default is None, is_optional
    )
    body = (Assign("out", "[]"), *payload, Assign(f"known[{tagged.tag}]", 'b"".join(out)'))
    return Choose(((negated(tests), body),))


def _are_twins(operation: model.Operation, following: model.Operation | None) -> bool:
    if not isinstance(operation, model.Array) or not isinstance(following, model.Array):
        return False
    if operation.nullable or following.nullable or operation.compact != following.compact:
        return False
    return operation.element == following.element and operation.element in SHORT_TABLES


def _length_again(operation: model.Array) -> Do:
    return COMPACT_LENGTH if operation.compact else _put(call(bound("pack", ("i",)), "n"))


def _no_list(value: str) -> tuple[Part, tuple[Step, ...]]:
    # Reject empty strings and dicts, which would pass as an empty array; others fail at an element.
    # Integer arrays omit this test, because many of them are empty.
    return code("type({}) is not list and type({}) in {}", value, value, use("NO_LISTS")), (REFUSE,)


def _elements(operation: model.Array) -> Step:
    value = f"x.{operation.name}"
    if isinstance(operation.element, model.LayoutRef):
        return Do(call(naming.function_all("write", operation.element), "out", value))
    if isinstance(operation.element, model.PackedElement):
        return _put(call(use(f"{operation.element}_elements"), value))
    is_compact = operation.compact and operation.element in ("string", "bytes")
    return _put(_elements_of(f"compact_{operation.element}" if is_compact else operation.element, value))


def _elements_of(element: str, value: str) -> Code:
    if element in FIXED_ELEMENTS:
        return call(use("fixed_elements"), value, f'"{naming.CODES[element]}"')
    return call(use(f"{element}_elements"), value)


def _letter(fixed: model.FixedField) -> str:
    return "B" if fixed.type == "bool" else naming.CODES[fixed.type]


def _argument(fixed: model.FixedField) -> Part:
    value = f"x.{fixed.name}"
    if fixed.type == "bool":
        return code("{}[{}]", use("TRUTH"), value)
    return f'{value}.int.to_bytes(16, "big")' if fixed.type == "uuid" else value
