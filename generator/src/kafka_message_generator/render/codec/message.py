"""Assembly of a message module: classes, functions, tables and imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_message_generator.plan.model import FieldPlan, LayoutRef, MessagePlan, StructPlan
from kafka_message_generator.plan.text import text_of
from kafka_message_generator.render import literals, naming, prose
from kafka_message_generator.render.code import Part, bound_of, call, code, imports, joined, names_of, use
from kafka_message_generator.render.codec import read, write
from kafka_message_generator.render.environment import ENVIRONMENT
from kafka_message_generator.render.naming import section_of
from kafka_message_generator.render.steps import Function
from kafka_message_generator.spec.model import REQUEST, RESPONSE
from kafka_message_generator.spec.versions import MAX_VERSION

# Maximum characters of literals on one line.
MOST_TOGETHER = 116
KEY, PART_OF_KEY = "with this key", "with this key, or with these parts of it"


@dataclass(frozen=True)
class Attribute:
    name: str
    annotation: Part
    default: Part
    docstring: str


@dataclass(frozen=True)
class Collection:
    name: str
    parent: Part
    about: str
    key: str
    parameters: Part
    arguments: str
    what: str
    """Description of the key for docstrings."""
    lookup: str
    """Suffix of the base class's lookup methods, after ``_find`` and ``_find_all``."""


@dataclass(frozen=True)
class Class:
    """Class of a struct, as values for the template."""

    name: str
    docstring: str
    is_message: bool
    decorator: Part
    parent: Part
    lazy_base: str
    lazy: dict[str, str]
    lazy_parent: Part
    constants_base: str
    constants_parents: Part
    constants: tuple[tuple[str, str], ...]
    structs: tuple[tuple[str, Part], ...]
    """Nested classes of a message, with annotations."""
    attributes: tuple[Attribute, ...]
    parameters: tuple[Part, ...]
    stores: tuple[tuple[str, Part], ...]
    equality: Part | None  # condition of ``__eq__``; None if the base class compares correctly
    collection: Collection | None


@dataclass(frozen=True)
class Bind:
    """Attributes of the message class that the end of the module assigns."""

    base: str
    codecs: tuple[tuple[int, str], ...]
    descriptor: tuple[str, ...]
    plan: tuple[str, ...]


def render(plan: MessagePlan, note: str = "") -> str:
    """Return the unformatted source of a message's module; its docstring ends with ``note``."""
    template = ENVIRONMENT.get_template("message.jinja")
    functions = list(_functions(plan))
    classes = [_class(plan, struct, note) for struct in plan.structs]
    structs = [(method.name, method.value) for method in sorted(bound_of([functions, classes]), key=lambda m: m.name)]
    body = template.render(structs=structs, classes=classes, functions=functions, bind=_bind(plan))
    needed = imports(names_of([functions, classes]), _response_import(plan))
    return prose.header(plan.file) + _docstring(plan) + needed + body


def _docstring(plan: MessagePlan) -> str:
    return f'"""{prose.sentence(plan.name)} from the definition {plan.file}"""\n\n'


def _functions(plan: MessagePlan) -> Iterator[Function]:
    for struct in plan.structs:
        for layout in struct.layouts:
            yield from read.functions(struct, layout)
            yield from write.functions(plan, struct, layout)


def _class(plan: MessagePlan, struct: StructPlan, note: str) -> Class:
    lazy = literals.lazy_fields(struct)
    lazy_base = f"_{struct.name}Defaults" if lazy else ""
    constants_base = _constants_base(struct.name)
    kind = use("RawTaggedFields")
    unknown = Attribute("unknown_tagged_fields", kind, "()", prose.unknown_tagged_fields(_is_extensible(plan)))
    attributes = [*map(_attribute, struct.fields), unknown]
    parameters = [*map(literals.parameter, struct.fields), code("unknown_tagged_fields: {} = ()", kind)]
    stores = [
        (literals.slot(struct, field), field.name if field.name in lazy else literals.store(field))
        for field in struct.fields
    ]
    stores.append(("unknown_tagged_fields", "unknown_tagged_fields"))
    return Class(
        name=struct.name,
        docstring=prose.struct_docstring(plan, struct, note),
        is_message=struct.is_message,
        decorator=call(use("dataclass"), "init=False", "repr=False", "eq=False", "kw_only=True"),
        parent=constants_base if struct.is_message else lazy_base or use("StructBase"),
        lazy_base=lazy_base,
        lazy=lazy,
        lazy_parent=use("LazyDefaults") if lazy else "",
        constants_base=constants_base,
        constants_parents=joined(", ", filter(None, (lazy_base, _base(plan)))) if struct.is_message else "",
        constants=tuple(_constants(plan)) if struct.is_message else (),
        structs=tuple((name, use("TypeAlias")) for name in _inner(plan)) if struct.is_message else (),
        attributes=tuple(attributes),
        parameters=tuple(parameters),
        stores=tuple(stores),
        equality=_equality(struct),
        collection=_collection(struct) if struct.keys else None,
    )


def _equality(struct: StructPlan) -> Part | None:
    # Only structs with floats need their own ``__eq__``, in which NaN equals NaN.
    if not any(field.type == "float64" for field in struct.fields):
        return None
    equal = [*map(literals.equality, struct.fields), "self.unknown_tagged_fields == other.unknown_tagged_fields"]
    return code("({})", joined(" and ", equal))


def _base(plan: MessagePlan) -> Part:
    if plan.kind == REQUEST:
        return code('{}["{}"]', use("Request"), f"_{plan.response}" if plan.response else use("Never"))
    return use("Response" if plan.kind == RESPONSE else "Message")


def _response_import(plan: MessagePlan) -> list[str]:
    module = naming.module(plan.response)
    return [f"from .{module} import {plan.response} as _{plan.response}"] if plan.response else []


def _inner(plan: MessagePlan) -> Iterator[str]:
    for struct in plan.structs[:-1]:
        yield struct.name
        if struct.keys:
            yield naming.collection(struct.name)


def _is_extensible(plan: MessagePlan) -> bool:
    return any(section_of(layout.operations) for layout in plan.body.layouts)


def _constants_base(name: str) -> str:
    return f"_{name}Constants"


def _constants(plan: MessagePlan) -> Iterable[tuple[str, str]]:
    flexible = plan.flexible.lowest if not plan.flexible.empty else MAX_VERSION + 1
    yield "NAME", repr(plan.name)
    if plan.api_key is not None:
        yield "API_KEY", str(plan.api_key)
    yield "LOWEST_SUPPORTED_VERSION", str(plan.valid.lowest)
    yield "HIGHEST_SUPPORTED_VERSION", str(plan.valid.highest)
    yield "LOWEST_FLEXIBLE_VERSION", str(flexible)
    if plan.response:
        yield "_response", repr(plan.response)


def _attribute(field: FieldPlan) -> Attribute:
    default = literals.attribute_default(field)
    return Attribute(field.name, literals.annotation(field), default, prose.field_docstring(field))


def _collection(struct: StructPlan) -> Collection:
    arguments = ", ".join(field.name for field in struct.keys)
    key = ", ".join(f"element.{field.name}" for field in struct.keys)
    is_single = len(struct.keys) == 1
    return Collection(
        name=naming.collection(struct.name),
        parent=code("{}[{}]", use("KeyedCollection"), struct.name),
        about=f"{struct.name} in order, found by {' and '.join(field.name for field in struct.keys)}.",
        key=key if is_single else f"({key})",
        parameters=joined(", ", [literals.key_parameter(field, is_single) for field in struct.keys]),
        arguments=arguments if is_single else f"({arguments})",
        what=KEY if is_single else PART_OF_KEY,
        lookup="" if is_single else "_by_parts",
    )


def _bind(plan: MessagePlan) -> Bind:
    codecs = sorted((version, _codec(layout.ref)) for layout in plan.body.layouts for version in layout.versions)
    lines = text_of(plan).splitlines(keepends=True)
    return Bind(_constants_base(plan.name), tuple(codecs), _literals(plan.descriptor_lines), _literals(lines))


def _literals(lines: Sequence[str]) -> tuple[str, ...]:
    found = tuple(map(_literal, lines))
    return found if len(" ".join(found)) > MOST_TOGETHER else (_literal("".join(lines)),)


def _codec(ref: LayoutRef) -> str:
    return ", ".join(naming.function(action, ref) for action in ("read", "write"))


def _literal(text: str) -> str:
    quote = '"' if '"' not in text else "'"
    return quote + text.replace("\\", "\\\\").replace("\n", "\\n").replace(quote, f"\\{quote}") + quote
