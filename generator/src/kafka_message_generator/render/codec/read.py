"""Lowering of a layout to statements that read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kafka_message_generator.plan import model
from kafka_message_generator.render import literals, naming
from kafka_message_generator.render.code import Code, Part, bound, call, code, use
from kafka_message_generator.render.naming import Section, form_of, section_of
from kafka_message_generator.render.steps import Assign, Choose, Do, Function, Step, Unpack
from kafka_message_generator.spec.model import INTEGERS

MALFORMED = Do(code("raise {}", use("Malformed")))
SHORT_TABLES = {"int8": "UNPACK_B", "int16": "UNPACK_H", "int32": "UNPACK_I", "int64": "UNPACK_Q"}
ARRAY_READERS = {
    "bool": "bool_array",
    "float64": "float_array",
    "uuid": "uuid_array",
    "string": "string_array",
    "bytes": "bytes_array",
}


def functions(struct: model.StructPlan, layout: model.Layout) -> Iterable[Function]:
    """Yield the generated functions that read a struct, arrays of it, and its tagged fields."""
    name = struct.name
    section = section_of(layout.operations)
    if section is not None and _has_known(section):
        yield _section_function(struct, layout.ref, section)
    body = tuple(_ReadLowering(struct, layout.ref).lower(layout.operations))
    make = Assign("x", call(use("new"), name))
    if struct.is_message or layout.ref.version in struct.singles:
        returns = f"tuple[{name}, int]"
        parameters = "data: bytes, pos: int"
        after = (Do("return x, pos"),)
        yield Function(naming.function("read", layout.ref), parameters, returns, body, before=(make,), after=after)
    if layout.ref.version in struct.arrays:
        kept = naming.collection(name) if struct.keys else f"list[{name}]"
        result = f"{kept}(out)" if struct.keys else "out"
        yield Function(
            naming.function_all("read", layout.ref),
            "data: bytes, pos: int, count: int",
            f"tuple[{kept}, int]",
            (make, *body),
            before=(Assign(f"out: list[{name}]", "[]"),),
            loop="for _ in range(count)",
            loop_end=(Do("out.append(x)"),),
            after=(Do(f"return {result}, pos"),),
        )


@dataclass
class _ReadLowering:
    struct: model.StructPlan
    ref: model.LayoutRef
    steps: list[Step] = field(default_factory=list)
    waiting: tuple[model.FixedField, ...] = ()
    end: str = "end"

    def lower(self, operations: Iterable[model.Operation]) -> list[Step]:
        for operation in operations:
            self.operation(operation)
        self.prefix("")
        return self.steps

    def operation(self, operation: model.Operation) -> None:
        if isinstance(operation, model.FixedRun):
            self.waiting += operation.fields
        elif isinstance(operation, model.Default):
            self.steps += self.default(operation.name)
        elif isinstance(operation, model.NoSection):
            self.steps.append(Assign("x.unknown_tagged_fields", "()"))
        elif isinstance(operation, model.TaggedFields | model.OptionalBuffer):
            self.section(operation)
        else:
            self.payload(operation)

    def prefix(self, code: str) -> None:
        # Read the pending fields and the length ``n`` after them at once.
        codes = tuple(naming.CODES[fixed.type] for fixed in self.waiting) + ((code,) if code else ())
        if not codes:
            return
        if codes == ("B",):
            self.steps += [Assign("n", "data[pos]"), Do("pos += 1")]
            return
        targets = [_target(fixed) for fixed in self.waiting] + (["n"] if code else [])
        width = sum(fixed.width for fixed in self.waiting) + {"": 0, "B": 1, "b": 1, "h": 2, "i": 4}[code]
        self.steps.append(
            Unpack(", ".join(targets) + ("," if len(targets) == 1 else ""), bound("unpack", codes), width)
        )
        for fixed in self.waiting:
            if fixed.type == "uuid":
                self.steps.append(Assign(f"x.{fixed.name}", call(use("uuid_from"), _target(fixed))))
        self.waiting = ()

    def payload(self, operation: model.Payload) -> None:
        if isinstance(operation, model.FixedRun):
            self.waiting += operation.fields
            self.prefix("")
        elif isinstance(operation, model.Packed):
            self.packed(operation)
        elif isinstance(operation, model.String):
            self.prefix("B" if operation.compact else "h")
            self.sliced(operation, ".decode()", "long_string")
        elif isinstance(operation, model.Bytes):
            self.prefix("B" if operation.compact else "i")
            self.sliced(operation, "", "long_bytes")
        elif isinstance(operation, model.Array):
            self.prefix("B" if operation.compact else "i")
            self.array(operation)
        elif operation.nullable:
            self.prefix("b")
            self.nullable_struct(operation, "n < 0")
        else:
            self.prefix("")
            self.steps.append(_read_into(operation.name, naming.function("read", operation.layout)))

    def packed(self, operation: model.Packed) -> None:
        target = f"x.{operation.name}"
        self.prefix("B")
        short = "n >> 1 ^ -(n & 1)" if operation.signed else "n"
        reader = use(f"long_{'' if operation.signed else 'u'}packed")
        long = call(reader, "data", "pos", "n", str(operation.bits))
        self.choose(("n < 128", Assign(target, short)), ("", Assign(f"{target}, pos", long)))

    def sliced(self, operation: model.String | model.Bytes, convert: str, long: str) -> None:
        target = f"x.{operation.name}"
        null = Assign(target, "None")
        length = "n - 1" if operation.compact else "n"
        short = self.slice(target, f"pos + {length}", "pos", convert)
        if not operation.compact:
            self.choose(("n >= 0", *short), ("", null if operation.nullable else MALFORMED))
            return
        branches: list[tuple[Part, *tuple[Step, ...]]] = [("0 < n < 128", *short)]
        if operation.nullable:
            branches.append(("n == 0", null))
        if isinstance(operation, model.Bytes):
            # Most record batches have a length of two bytes.
            branches.append(
                ("n and 0 < data[pos] < 128", *self.slice(target, "pos + (n & 127 | data[pos] << 7)", "pos + 1", ""))
            )
        if operation.nullable:
            long = long.replace("long_", "long_nullable_")
        self.choose(*branches, ("", Assign(f"{target}, pos", _read(use(long), "n"))))

    def slice(self, target: str, end: str, start: str, convert: str) -> tuple[Step, ...]:
        value = f"data[{start}:{self.end}]{convert}"
        return Assign(self.end, end), Assign(target, value), Assign("pos", self.end)

    def array(self, operation: model.Array) -> None:
        target = f"x.{operation.name}"
        null = ("n == 0" if operation.compact else "n < 0", Assign(target, "None"))
        nulls = (null,) if operation.nullable else ()
        element = operation.element
        if isinstance(element, str) and element in INTEGERS:
            self.integers(operation, element, nulls)
            return
        read = _reader(element, operation.compact)
        if operation.compact:
            count = "long_nullable_count" if operation.nullable else "long_count"
            some: Step = Assign(f"{target}, pos", _read(read, "n"))
            if operation.nullable:
                some = Choose((("n < 0", (Assign(target, "None"),)), ("", (some,))))
            many = (Assign("n, pos", _read(use(count), "n")), some)
            few = Assign(f"{target}, pos", _read(read, "n - 1"))
            self.choose(("0 < n < 128", few), *nulls, ("", *many))
        else:
            given: Part = call(use("empty_count"), "n") if operation.empty_elements else "n"
            some = Assign(f"{target}, pos", _read(read, given))
            self.choose(("n >= 0", some), ("", nulls[0][1] if nulls else MALFORMED))

    def integers(self, operation: model.Array, element: str, nulls: tuple[tuple[str, Step], ...]) -> None:
        # Short arrays use a precompiled struct for their length, others a helper.
        target, letter, width = f"x.{operation.name}", naming.CODES[element], INTEGERS[element].width
        arguments = ("n", f'"{letter}"', str(width))
        table = SHORT_TABLES.get(element)
        if operation.compact:
            short, none, length = "n < 17", "n == 1", f"n * {width} - {width}" if width > 1 else "n - 1"
            nullable = "nullable_" if operation.nullable else ""
            index, rest = "n", _read(use(f"long_{nullable}fixed_array"), *arguments)
        else:
            short, none, length = "0 < n < 16", "n == 0", f"n * {width}" if width > 1 else "n"
            index, rest = "n + 1", _read(use("fixed_array"), *arguments)
        branches: list[tuple[Part, *tuple[Step, ...]]] = []
        if table:
            branches.append((none, Assign(target, "[]")))
            few = (short, Assign(target, code("[*{}[{}](data, pos)]", use(table), index)), Do(f"pos += {length}"))
            # Entry 0 of a table rejects null, which saves a test in the common case.
            branches += [*nulls, few] if operation.compact else [few, *nulls]
        else:
            branches += nulls
        self.choose(*branches, ("", Assign(f"{target}, pos", rest)))

    def nullable_struct(self, operation: model.Single, is_null: str) -> None:
        read = _read_into(operation.name, naming.function("read", operation.layout))
        self.choose((is_null, Assign(f"x.{operation.name}", "None")), ("", read))

    def choose(self, *branches: tuple[Part, *tuple[Step, ...]]) -> None:
        if len(branches) == 1:
            self.steps += branches[0][1:]
        else:
            self.steps.append(Choose(tuple((branch[0], branch[1:]) for branch in branches)))

    def default(self, name: str) -> list[Step]:
        # The default of a tagged struct is created on first access.
        if name in literals.lazy_fields(self.struct):
            return [Assign(f"x._{name}", "None")]
        return [Assign(f"x.{name}", literals.fresh(self.struct.field(name)))]

    def section(self, section: Section) -> None:
        self.prefix("B")
        for tagged in section.fields:
            self.steps += self.default(tagged.name)
        form = form_of(section)
        if _has_known(section):
            function = naming.function(f"read_{form.function}", self.ref)
            read: Step = Assign("pos", _read(function, "n", "x"))
        else:
            read = Assign("x.unknown_tagged_fields, pos", _read(use(form.unknown), "n"))
        self.choose(("n", read), ("", Assign("x.unknown_tagged_fields", "()")))

    def tagged_payload(self, payload: model.Payload, is_optional: bool) -> list[Step]:
        if isinstance(payload, model.Single) and payload.nullable and not is_optional:
            # The presence of a tagged struct is an unsigned varint, that of a regular one an int8.
            self.steps.append(Assign("n, pos", _read(use("read_uvarint"))))
            self.nullable_struct(payload, "n == 0")
        else:
            self.payload(payload)
        return self.steps


def _has_known(section: Section) -> bool:
    return bool(section.fields) or (isinstance(section, model.TaggedFields) and bool(section.absent))


def _section_function(struct: model.StructPlan, ref: model.LayoutRef, section: Section) -> Function:
    is_buffer = isinstance(section, model.OptionalBuffer)
    form = form_of(section)
    branches = [_tagged_branch(struct, ref, tagged, is_buffer) for tagged in section.fields]
    if isinstance(section, model.TaggedFields) and section.absent:
        branches.append((f"tag in ({', '.join(map(str, section.absent))},)", (MALFORMED,)))
    raw = use("RawTaggedField")
    keep = (Do(code("unknown.append({}(tag, data[pos:end]))", raw)), Assign("pos", "end"))
    header = _read(use(form.header), *(("n", "tag") if is_buffer else ("seen",)))
    before: tuple[Step, ...]
    next_length: tuple[Step, ...] = ()
    if is_buffer:
        before = (Assign("n, pos", _read(use("long_packed"), "n", "32")), Assign("tag", "-1"))
        next_length = (Assign("n, pos", _read(use("optional_length"))),)
    else:
        before = (Assign("count, pos", _read(use("long_uvarint"), "n")), Assign("seen: set[int]", "set()"))
    return Function(
        naming.function(f"read_{form.function}", ref),
        f"data: bytes, pos: int, n: int, x: {struct.name}",
        "int",
        (Assign("tag, pos, end", header), Choose((*branches, ("", keep)))),
        before=(*before, Assign(code("unknown: list[{}]", raw), "[]")),
        loop="while n" if is_buffer else "for _ in range(count)",
        loop_end=(Choose((("pos != end", (MALFORMED,)),)), *next_length),
        after=(Assign("x.unknown_tagged_fields", call(use("in_order"), "unknown")), Do("return pos")),
    )


def _tagged_branch(
    struct: model.StructPlan, ref: model.LayoutRef, tagged: model.Tagged, is_optional: bool
) -> tuple[str, tuple[Step, ...]]:
    # Slices inside a tagged value end at ``stop``; ``end``, the end of the field, is checked after the branch.
    lowering = _ReadLowering(struct, ref, end="stop")
    return f"tag == {tagged.tag}", tuple(lowering.tagged_payload(tagged.payload, is_optional))


def _reader(element: str | model.LayoutRef | model.PackedElement, compact: bool) -> Part:
    if isinstance(element, model.LayoutRef):
        return naming.function_all("read", element)
    if isinstance(element, model.PackedElement):
        return use(f"{element}_array")
    reader = ARRAY_READERS[element]
    return use(f"compact_{reader}" if compact and element in ("string", "bytes") else reader)


def _read(function: Part, *arguments: Part) -> Code:
    return call(function, "data", "pos", *arguments)


def _read_into(name: str, reader: str) -> Step:
    return Assign(f"x.{name}, pos", _read(reader))


def _target(fixed: model.FixedField) -> str:
    return f"u_{fixed.name}" if fixed.type == "uuid" else f"x.{fixed.name}"
