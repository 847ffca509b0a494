"""Values, types and tests of fields as Python source."""

from __future__ import annotations

import math
import uuid

from generator.plan.model import FieldPlan, MessagePlan, Packed, StructPlan
from generator.render import naming
from generator.rules.defaults import Empty

INTEGER_CODES = {"int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8}
"""Integer types and their widths in bytes."""

_SCALARS = {
    "bool": "bool",
    "float64": "float",
    "uuid": "UUID",
    "string": "str",
    "bytes": "bytes",
    "records": "bytes",
} | dict.fromkeys(INTEGER_CODES, "int")


def annotation(field: FieldPlan) -> str:
    """The type of the attribute: ``int``, ``str | None``, ``list[UUID]``, ``TopicCollection``."""
    element = field.type if field.is_struct else _SCALARS[field.type]
    kept = naming.collection(field.type) if field.collection else f"list[{element}]"
    base = kept if field.is_array else element
    return f"{base} | None" if field.nullable else base


def parameter(field: FieldPlan) -> str:
    """The constructor parameter, with its default."""
    name, default = field.name, field.default
    none = " | None" if field.nullable else ""
    if field.is_array:
        element = field.type if field.is_struct else _SCALARS[field.type]
        return f"{name}: Iterable[{element}]{none} = {'None' if default is None else '()'}"
    if default is Empty.STRUCT:
        # None asks for the default; where None itself is a value, the default has to be passed as UNSET.
        return f"{name}: {field.type} | None = {'UNSET' if field.nullable else 'None'}"
    return f"{name}: {annotation(field)} = {fresh(field)}"


def slot(struct: StructPlan, field: FieldPlan) -> str:
    """The attribute that holds a field: another one, None for the default, where the default is made when asked for."""
    return f"_{field.name}" if field.name in lazy_fields(struct) else field.name


def store(field: FieldPlan) -> str:
    """The constructor's value of the attribute."""
    name = field.name
    if field.is_array:
        kept = naming.collection(field.type) if field.collection else "list"
        element = field.type if field.is_struct else _SCALARS[field.type]
        is_checked = field.is_struct or element == "str"
        made = f'list_of({name}, "{name}", "{element}")' if is_checked else f"list({name})"
        if field.collection:
            made = f"{kept}({made})"
        wrapped = f"{name} if isinstance({name}, {kept}) else {made}"
        return f"None if {name} is None else {wrapped}" if field.nullable else wrapped
    if field.default is Empty.STRUCT:
        return f"{field.type}() if {name} is {'UNSET' if field.nullable else 'None'} else {name}"
    return name


def fresh(field: FieldPlan) -> str:
    """An expression for the default, new for each use where it can be changed."""
    default = field.default
    if default is Empty.ARRAY:
        return f"{naming.collection(field.type)}()" if field.collection else "[]"
    if default is Empty.STRUCT:
        return f"{field.type}()"
    if isinstance(default, uuid.UUID):
        return "ZERO_UUID" if default.int == 0 else f"UUID({str(default)!r})"
    if isinstance(default, float) and not math.isfinite(default):
        return f'float("{default}")'
    return repr(default)


def attribute_default(field: FieldPlan) -> str:
    """The right side of the attribute in the class body."""
    if field.default is Empty.ARRAY:
        return f"field(default_factory={naming.collection(field.type) if field.collection else 'list'})"
    if field.default is Empty.STRUCT:
        return f"field(default_factory={field.type})"
    return fresh(field)


def default_tests(message: MessagePlan, field: FieldPlan, expression: str) -> list[str]:
    """Tests that hold together exactly when ``expression``, a value of the field, is its default.

    A value of the wrong kind makes a test fail or raise, so that None never passes for a default it is not.
    """
    default = field.default
    if default is None:
        return [f"{expression} is None"]
    not_null = [f"{expression} is not None"] if field.nullable else []
    if default is Empty.STRUCT:
        struct = message.struct(field.type)
        inner = [t for f in struct.fields for t in default_tests(message, f, f"{expression}.{f.name}")]
        return [*not_null, *inner, f"not {expression}.unknown_tagged_fields"]
    if default is Empty.ARRAY or isinstance(default, bytes):
        return [*not_null, f"not len({expression})"]
    if isinstance(default, bool):
        return [f"{expression} is {default}"]
    if isinstance(default, uuid.UUID):
        return [f"{expression}.int == {default.int:#x}" if default.int else f"not {expression}.int"]
    return [f"{expression} == {fresh(field)}"]


def lazy_fields(struct: StructPlan) -> dict[str, str]:
    """Tagged fields whose default is a struct, never null, and that struct: it is made when first looked at."""
    return {f.name: f.type for f in struct.fields if f.is_tagged and f.default is Empty.STRUCT and not f.nullable}


def tagged_tests(message: MessagePlan, struct: StructPlan, field: FieldPlan, value: str) -> list[str]:
    """``default_tests`` of a tagged field whose slot has the value ``value``."""
    tests = default_tests(message, field, value)
    if field.name not in lazy_fields(struct):
        return tests
    return [f"({value} is None or ({' and '.join(tests)}))"]


def equality(field: FieldPlan) -> str:
    """The test that two objects agree in a field."""
    name = field.name
    same = f"self.{name} == other.{name}"
    if field.type == "float64" and field.is_array:
        return f"same_floats(self.{name}, other.{name})"
    if field.type == "float64":
        return f"({same} or (self.{name} != self.{name} and other.{name} != other.{name}))"  # NaN equals itself here
    return same


def negated(tests: list[str]) -> str:
    """The test that at least one of ``tests`` fails, as plain as it can be said."""
    if len(tests) > 1:
        return f"not ({' and '.join(tests)})"
    test = tests[0] if tests else "True"
    if test.startswith("("):
        return f"not {test}"
    for positive, negative in ((" is not ", " is "), (" is ", " is not "), (" == ", " != ")):
        if positive in test:
            return test.replace(positive, negative)
    return test.removeprefix("not ") if test.startswith("not ") else f"not {test}"


def packed(operation: Packed, value: str) -> str:
    """The bytes of a packed integer. The table knows numbers by value; ``| 0`` keeps floats out of it."""
    return f"{'' if operation.signed else 'U'}PACKED{operation.bits}[{value} | 0]"
