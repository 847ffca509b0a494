"""Lowers a layout to the statements that write it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from generator.plan.model import (
    Array,
    Blob,
    Default,
    Fixed,
    FixedRun,
    Layout,
    LayoutRef,
    MessagePlan,
    Operation,
    Payload,
    Single,
    StructPlan,
    Tagged,
    TagSection,
    Text,
)
from generator.render import literals, naming
from generator.render.steps import Assign, Call, Choose, Function, Step

SHORT_TABLES = {"int8": "PACK_B", "int16": "PACK_H", "int32": "PACK_I", "int64": "PACK_Q"}
ARRAY_WRITERS = {
    "bool": "write_bool_array(out, {})",
    "float64": 'write_fixed_array(out, {}, "d")',
    "uuid": "write_uuid_array(out, {})",
    "string": "write_string_array(out, {})",
    "bytes": "write_bytes_array(out, {})",
    "compact string": "write_compact_string_array(out, {})",
    "compact bytes": "write_compact_bytes_array(out, {})",
}


def functions(message: MessagePlan, struct: StructPlan, layout: Layout) -> Iterable[Function]:
    """The writing functions of one layout: for one struct, for an array's elements, for its tagged fields."""
    tags = next((operation for operation in layout.operations if isinstance(operation, TagSection)), None)
    if tags is not None and tags.fields:
        yield _tags_function(message, struct, layout.ref, tags)
    body = tuple(_Lowering(message, struct, layout.ref).lower(layout.operations))
    if struct.is_message or layout.ref.version in struct.singles:
        yield Function(naming.function("write", layout.ref), f"out: bytearray, x: {struct.name}", "None", body)
    if layout.ref.version in struct.arrays:
        parameters = f"out: bytearray, items: Iterable[{struct.name}]"
        yield Function(naming.function_all("write", layout.ref), parameters, "None", body, loop="x in items")


@dataclass
class _Lowering:
    """Statements for operations in order; fixed values wait for the length prefix that follows them."""

    message: MessagePlan
    struct: StructPlan
    ref: LayoutRef
    steps: list[Step] = field(default_factory=list)
    waiting: tuple[Fixed, ...] = ()

    def lower(self, operations: Iterable[Operation]) -> list[Step]:
        for operation in operations:
            if isinstance(operation, Default) and operation.refuse:
                self.refuse(operation)
        for operation in operations:
            if isinstance(operation, FixedRun):
                self.waiting += operation.fields
            elif isinstance(operation, TagSection):
                self.tag_section(operation)
            elif not isinstance(operation, Default):
                self.payload(operation)
        self.prefix("", "")
        return self.steps

    def refuse(self, operation: Default) -> None:
        """A value that this layout would lose is an error, unless it is what the reader will assume anyway."""
        tests = literals.default_tests(self.message, self.struct.field(operation.name), f"x.{operation.name}")
        self.steps.append(Choose(((_negated(tests), (Call("raise Refused"),)),)))

    def prefix(self, code: str, value: str) -> None:
        """Write the waiting fields, and with them ``value`` as struct format ``code``."""
        arguments = [_argument(fixed) for fixed in self.waiting] + ([value] if code else [])
        codes = tuple(_code(fixed) for fixed in self.waiting) + ((code,) if code else ())
        self.waiting = ()
        if codes:
            self.steps.append(Call(f"out += {naming.bound('pack', codes)}({', '.join(arguments)})"))

    def prefix_or(self, test: str, value: str, otherwise: tuple[Step, ...]) -> None:
        """The waiting fields and one byte ``value`` where ``test`` holds, else the fields and other statements."""
        waiting = self.waiting
        fused = self.separately("B", value)
        if not waiting:
            fused = [Call(f"out.append({value})")]
        self.waiting = waiting
        plain = self.separately("", "")
        self.steps.append(Choose(((test, tuple(fused)), ("", (*plain, *otherwise)))))

    def separately(self, code: str, value: str) -> list[Step]:
        """What ``prefix`` would add, handed back instead."""
        steps, self.steps = self.steps, []
        self.prefix(code, value)
        added, self.steps = self.steps, steps
        return added

    def length(self, compact: bool, code: str, is_text: bool = False) -> None:
        """The length ``n`` (-1 for null) in front of a value."""
        if not compact:
            self.prefix(code, "n")
            return
        length = "string_length(n)" if is_text else "n"
        self.prefix_or("n < 127", "n + 1", (Call(f"out += uvarint({length} + 1)"),))

    def payload(self, operation: Payload) -> None:
        if isinstance(operation, FixedRun):
            self.waiting += operation.fields
            self.prefix("", "")
        elif isinstance(operation, Text):
            self.measured(operation, ".encode()")
            self.length(operation.compact, "h", is_text=True)
            self.steps.append(Call("out += s"))
        elif isinstance(operation, Blob):
            self.measured(operation, "")
            self.length(operation.compact, "i")
            self.steps.append(Call("out += s"))
        elif isinstance(operation, Array):
            self.array(operation)
        else:
            self.single(operation, "b", "-1", "1")

    def measured(self, operation: Text | Blob, convert: str) -> None:
        value = f"x.{operation.name}"
        steps = (Assign("s", f"{value}{convert}"), Assign("n", "len(s)"))
        if operation.nullable:
            null = (Assign("s", 'b""'), Assign("n", "-1"))
            self.steps.append(Choose(((f"{value} is None", null), ("", steps))))
        else:
            self.steps += steps

    def array(self, operation: Array) -> None:
        value = f"x.{operation.name}"
        count = f"-1 if {value} is None else len({value})" if operation.nullable else f"len({value})"
        self.steps.append(Assign("n", count))
        self.length(operation.compact, "i")
        some = value if operation.nullable else "n"
        if isinstance(operation.element, str) and operation.element in literals.INTEGER_CODES:
            self.integers(value, operation.element, some)
        else:
            self.steps.append(Choose(((some, (_write_elements(operation, value),)),)))

    def integers(self, value: str, element: str, some: str) -> None:
        rest = Call(f'write_fixed_array(out, {value}, "{naming.CODES[element]}")')
        table = SHORT_TABLES.get(element)
        if table is None:
            self.steps.append(Choose(((some, (rest,)),)))
            return
        short = Call(f"out += {table}[n](*{value})")
        test = "0 < n < 16" if some == "n" else f"{some} and n < 16"
        self.steps.append(Choose(((test, (short,)), (some, (rest,)))))

    def single(self, operation: Single, code: str, null: str, present: str) -> None:
        value = f"x.{operation.name}"
        write = Call(f"{naming.function('write', operation.layout)}(out, {value})")
        if operation.nullable:
            self.prefix(code, f"{null} if {value} is None else {present}")
            self.steps.append(Choose(((f"{value} is not None", (write,)),)))
        else:
            self.prefix("", "")
            self.steps.append(write)

    def tag_section(self, section: TagSection) -> None:
        fields = [self.struct.field(tagged.name) for tagged in section.fields]
        tests = [t for f in fields for t in literals.default_tests(self.message, f, f"x.{f.name}")]
        if section.fields:
            write = Call(f"{naming.function('write_tags', self.ref)}(out, x)")
        else:
            write = Call("write_tags(out, {}, x.unknown_tagged_fields)")
        self.prefix_or(" and ".join([*tests, "not x.unknown_tagged_fields"]), "0", (write,))

    def tagged_payload(self, payload: Payload) -> list[Step]:
        if isinstance(payload, Single):
            # Presence of a tagged struct is an unsigned varint, where a regular one has an int8.
            self.single(payload, "B", "0", "1")
        else:
            self.payload(payload)
        return self.steps


def _tags_function(message: MessagePlan, struct: StructPlan, ref: LayoutRef, section: TagSection) -> Function:
    steps = tuple(_tagged(message, struct, ref, tagged) for tagged in section.fields)
    return Function(
        naming.function("write_tags", ref),
        f"parent: bytearray, x: {struct.name}",
        "None",
        steps,
        before=(Assign("known: dict[int, bytearray]", "{}"),),
        after=(Call("write_tags(parent, known, x.unknown_tagged_fields)"),),
    )


def _tagged(message: MessagePlan, struct: StructPlan, ref: LayoutRef, tagged: Tagged) -> Step:
    tests = literals.default_tests(message, struct.field(tagged.name), f"x.{tagged.name}")
    payload = _Lowering(message, struct, ref).tagged_payload(tagged.payload)
    body = (Assign("out", "bytearray()"), *payload, Assign(f"known[{tagged.tag}]", "out"))
    return Choose(((_negated(tests), body),))


def _negated(tests: list[str]) -> str:
    if len(tests) > 1:
        return f"not ({' and '.join(tests)})"
    test = tests[0] if tests else "True"
    for positive, negative in ((" is not ", " is "), (" is ", " is not "), (" == ", " != ")):
        if positive in test:
            return test.replace(positive, negative)
    return test.removeprefix("not ") if test.startswith("not ") else f"not {test}"


def _write_elements(operation: Array, value: str) -> Step:
    if isinstance(operation.element, LayoutRef):
        return Call(f"{naming.function_all('write', operation.element)}(out, {value})")
    is_compact = operation.compact and operation.element in ("string", "bytes")
    return Call(ARRAY_WRITERS[("compact " if is_compact else "") + operation.element].format(value))


def _code(fixed: Fixed) -> str:
    return "B" if fixed.type == "bool" else naming.CODES[fixed.type]


def _argument(fixed: Fixed) -> str:
    value = f"x.{fixed.name}"
    return {"bool": f"TRUTH[{value}]", "uuid": f"{value}.bytes"}.get(fixed.type, value)
