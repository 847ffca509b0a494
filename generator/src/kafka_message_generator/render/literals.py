"""Field values, types and tests as Python source."""

from __future__ import annotations

import math
import uuid

from kafka_message_generator.plan.model import FieldPlan, MessagePlan, Packed, StructPlan
from kafka_message_generator.render import naming
from kafka_message_generator.render.code import Code, Part, call, code, equal, is_, is_not, joined, not_, use
from kafka_message_generator.rules.defaults import Empty
from kafka_message_generator.spec.model import INTEGERS

_SCALARS: dict[str, Part] = {
    "bool": "bool",
    "float64": "float",
    "uuid": use("UUID"),
    "string": "str",
    "bytes": "bytes",
    "records": "bytes",
    **dict.fromkeys(INTEGERS, "int"),
}


def annotation(field: FieldPlan) -> Code:
    """Return the type of an attribute, such as ``list[UUID]`` or ``TopicCollection``."""
    kept = naming.collection(field.type) if field.collection else code("list[{}]", _element(field))
    return _or_none(field, kept if field.is_array else _element(field))


def _element(field: FieldPlan) -> Part:
    return field.type if field.is_struct else _SCALARS[field.type]


def _or_none(field: FieldPlan, kind: Part) -> Code:
    return code("{} | None" if field.nullable else "{}", kind)


def parameter(field: FieldPlan) -> Code:
    name, default = field.name, field.default
    if field.is_array:
        kind = _or_none(field, code("{}[{}]", use("Iterable"), _element(field)))
        return code("{}: {} = {}", name, kind, "None" if default is None else "()")
    if default is Empty.STRUCT:
        # None is the default, or UNSET if None is a value
        return code("{}: {} | None = {}", name, field.type, _unset(field))
    return code("{}: {} = {}", name, annotation(field), fresh(field))


def key_parameter(field: FieldPlan, is_only_key: bool) -> Code:
    """Return a lookup method's parameter for a key field; it has no default if the field ``is_only_key``."""
    needed = code("{}: {}", field.name, annotation(field))
    return needed if is_only_key else code("{} = {}", needed, use("UNSET"))


def _unset(field: FieldPlan) -> Part:
    return use("UNSET") if field.nullable else "None"


def slot(struct: StructPlan, field: FieldPlan) -> str:
    """Return the attribute that stores a field; a lazy default has a private one, which is None until the first access."""
    return f"_{field.name}" if field.name in lazy_fields(struct) else field.name


def store(field: FieldPlan) -> Part:
    name = field.name
    if field.is_array:
        kept = naming.collection(field.type) if field.collection else "list"
        is_checked = field.is_struct or field.type == "string"
        elements = call(use("elements_of"), name, f'"{name}"', code('"{}"', _element(field))) if is_checked else name
        wrapped = code("{} if isinstance({}, {}) else {}({})", name, name, kept, kept, elements)
        return code("None if {} is None else {}", name, wrapped) if field.nullable else wrapped
    if field.default is Empty.STRUCT:
        return code("{}() if {} is {} else {}", field.type, name, _unset(field), name)
    return name


def fresh(field: FieldPlan) -> Part:
    """Return an expression for the default; a mutable default is a new object each time."""
    default = field.default
    if default is Empty.ARRAY:
        return f"{naming.collection(field.type)}()" if field.collection else "[]"
    if default is Empty.STRUCT:
        return f"{field.type}()"
    if isinstance(default, uuid.UUID):
        return use("ZERO_UUID") if default.int == 0 else call(use("UUID"), repr(str(default)))
    if isinstance(default, float) and not math.isfinite(default):
        return f'float("{default}")'
    return repr(default)


def attribute_default(field: FieldPlan) -> Part:
    if field.default is Empty.ARRAY:
        return _factory(naming.collection(field.type) if field.collection else "list")
    if field.default is Empty.STRUCT:
        return _factory(field.type)
    return fresh(field)


def _factory(make: str) -> Code:
    return code("{}(default_factory={})", use("field"), make)


def default_tests(message: MessagePlan, field: FieldPlan, value: str) -> list[Code]:
    """Return tests that are all true only if the expression ``value`` is the field's default.

    For a wrong type, a test is false or raises.
    """
    default = field.default
    if default is None:
        return [is_(value, None)]
    not_null = [is_not(value, None)] if field.nullable else []
    if default is Empty.STRUCT:
        struct = message.struct(field.type)
        inner = [t for f in struct.fields for t in default_tests(message, f, f"{value}.{f.name}")]
        return [*not_null, *inner, not_(f"{value}.unknown_tagged_fields")]
    if default is Empty.ARRAY or isinstance(default, bytes):
        return [*not_null, not_(f"len({value})")]
    if isinstance(default, bool):
        return [is_(value, default)]
    if isinstance(default, uuid.UUID):
        return [equal(f"{value}.int", f"{default.int:#x}") if default.int else not_(f"{value}.int")]
    return [equal(value, fresh(field))]


def lazy_fields(struct: StructPlan) -> dict[str, str]:
    return {f.name: f.type for f in struct.fields if f.is_lazy_default}


def tagged_tests(message: MessagePlan, struct: StructPlan, field: FieldPlan, value: str) -> list[Code]:
    """Return ``default_tests`` for a tagged field with ``value`` in its slot."""
    tests = default_tests(message, field, value)
    if field.name not in lazy_fields(struct):
        return tests
    return [code("({} is None or ({}))", value, joined(" and ", tests))]


def equality(field: FieldPlan) -> Part:
    name = field.name
    same = f"self.{name} == other.{name}"
    if field.type == "float64" and field.is_array:
        return call(use("same_floats"), f"self.{name}", f"other.{name}")
    if field.type == "float64":
        return f"({same} or (self.{name} != self.{name} and other.{name} != other.{name}))"  # NaN equals NaN
    return same


def packed(operation: Packed, value: str) -> Code:
    """Return the bytes of a packed integer; ``| 0`` makes the table lookup raise for floats."""
    return code("{}[{} | 0]", use(f"{'' if operation.signed else 'U'}PACKED{operation.bits}"), value)
