"""Puts a message module together: its classes, functions, tables and imports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.plan.model import FieldPlan, LayoutRef, MessagePlan, StructPlan
from generator.render import literals, naming, prose
from generator.render.environment import ENVIRONMENT
from generator.render.portable import read, size, write
from generator.render.sections import section_of
from generator.render.steps import Function
from generator.spec.versions import MAX_VERSION

IMPORTS = {
    "collections.abc": "Iterable",
    "struct": "Struct",
    "uuid": "UUID",
    ".._arrays": (
        "PACK_B PACK_H PACK_I PACK_Q UNPACK_B UNPACK_H UNPACK_I UNPACK_Q bool_array bool_elements bytes_array "
        "bytes_array_size bytes_elements compact_bytes_array compact_bytes_array_size compact_bytes_elements "
        "compact_string_array compact_string_array_size compact_string_elements fixed_array fixed_elements "
        "float_array list_of long_fixed_array long_nullable_fixed_array string_array string_array_size "
        "string_elements uuid_array uuid_elements"
    ),
    ".._collection": "KeyedCollection adopt",
    ".._dataclass": "dataclass field",
    ".._message": "LazyDefaults Message StructBase",
    ".._proposals": (
        "PACKED16 PACKED32 PACKED64 UPACKED16 UPACKED32 UPACKED64 interleaved_header interleaved_tagged_size "
        "interleaved_tags interleaved_tags_size long_packed long_upacked optional optional_field_size optional_header "
        "optional_length optional_size packed16_array packed16_elements packed32_array packed32_elements "
        "packed64_array packed64_elements unknown_interleaved_tags unknown_optional upacked16_array "
        "upacked16_elements upacked32_array upacked32_elements upacked64_array upacked64_elements"
    ),
    ".._wire": (
        "Malformed RawTaggedField RawTaggedFields Refused TEXT_LENGTHS TRUTH UNSET VARINTS ZERO_UUID empty_count "
        "in_order long_bytes long_count long_nullable_bytes long_nullable_count long_nullable_string long_string "
        "long_uvarint new read_uvarint same_floats string_length tag_header tagged_size tags tags_size "
        "unknown_tags uuid_from uvarint_size"
    ),
}
"""Where each name that printed code may use comes from; a module imports those it does use."""

_BOUND = re.compile(r"\b_(?:un)?pack_\w+")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_STRING = re.compile(r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"' r"|'(?:[^'\\\n]|\\.)*'")
_FORMATS = {"u": "16s", "o": "?"}
FACTS_WIDTH = 90


@dataclass(frozen=True)
class Attribute:
    """A field in the class body."""

    name: str
    annotation: str
    default: str
    docstring: str


@dataclass(frozen=True)
class Collection:
    """A keyed collection of a struct."""

    name: str
    about: str
    key: str
    parameters: str
    arguments: str


@dataclass(frozen=True)
class Class:
    """A struct's class, every part of it as text."""

    name: str
    docstring: str
    is_message: bool
    parent: str
    base: str
    lazy: dict[str, str]
    constants_base: str
    constants_parents: str
    constants: tuple[tuple[str, str], ...]
    attributes: tuple[Attribute, ...]
    parameters: tuple[str, ...]
    stores: tuple[tuple[str, str], ...]
    equality: str
    collection: Collection | None


@dataclass(frozen=True)
class Bind:
    """What the module's end ties to the message class."""

    base: str
    codecs: tuple[tuple[int, str], ...]
    facts: tuple[str, ...]


def render(plan: MessagePlan) -> str:
    """The source of a message's module, not yet formatted."""
    template = ENVIRONMENT.get_template("message.jinja")
    functions = list(_functions(plan))
    classes = [_class(plan, struct) for struct in plan.structs]
    body = template.render(structs=[], classes=classes, functions=functions, bind=_bind(plan))
    structs = [(name, _format(name)) for name in sorted(set(_BOUND.findall(_code(body))))]
    body = template.render(structs=structs, classes=classes, functions=functions, bind=_bind(plan))
    return prose.header(plan.file) + _docstring(plan) + _imports(body) + body


def _docstring(plan: MessagePlan) -> str:
    return f'"""{prose.sentence(plan.name)} from the definition {plan.file}"""\n\n'


def _functions(plan: MessagePlan) -> Iterator[Function]:
    for struct in plan.structs:
        for layout in struct.layouts:
            yield from read.functions(struct, layout)
            yield from write.functions(plan, struct, layout)
            yield from size.functions(plan, struct, layout)


def _format(name: str) -> str:
    letters = name.rsplit("pack_", 1)[1]
    return ">" + "".join(_FORMATS.get(letter, letter) for letter in letters)


def _code(body: str) -> str:
    """The body without what its strings say: descriptions and defaults can look like anything."""
    return _STRING.sub('""', body)


def _imports(body: str) -> str:
    used = set(_NAME.findall(_code(body)))
    lines = ["from __future__ import annotations\n"]
    for module, names in IMPORTS.items():
        needed = [name for name in names.split() if name in used]
        if needed:
            if module.startswith("..") and not lines[-1].startswith("from .."):
                lines.append("")
            lines.append(f"from {module} import {', '.join(needed)}")
    return "\n".join(lines) + "\n\n"


def _class(plan: MessagePlan, struct: StructPlan) -> Class:
    lazy = literals.lazy_fields(struct)
    base = f"_{struct.name}Defaults" if lazy else "StructBase"
    constants_base = _constants_base(struct.name)
    unknown = Attribute(
        "unknown_tagged_fields", "RawTaggedFields", "()", prose.unknown_tagged_fields(_is_extensible(plan))
    )
    attributes = [*map(_attribute, struct.fields), unknown]
    parameters = [*map(literals.parameter, struct.fields), "unknown_tagged_fields: RawTaggedFields = ()"]
    stores = [
        (literals.slot(struct, field), field.name if field.name in lazy else literals.store(field))
        for field in struct.fields
    ]
    stores.append(("unknown_tagged_fields", "unknown_tagged_fields"))
    equal = [*map(literals.equality, struct.fields), "self.unknown_tagged_fields == other.unknown_tagged_fields"]
    return Class(
        name=struct.name,
        docstring=prose.struct_docstring(plan, struct),
        is_message=struct.is_message,
        parent=constants_base if struct.is_message else base,
        base=base,
        lazy=lazy,
        constants_base=constants_base,
        constants_parents=f"{base}, Message" if lazy else "Message",
        constants=tuple(_constants(plan)) if struct.is_message else (),
        attributes=tuple(attributes),
        parameters=tuple(parameters),
        stores=tuple(stores),
        equality="(" + " and ".join(equal) + ")",
        collection=_collection(struct) if struct.keys else None,
    )


def _is_extensible(plan: MessagePlan) -> bool:
    """Whether any version can carry fields that the definition does not name."""
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


def _attribute(field: FieldPlan) -> Attribute:
    default = literals.attribute_default(field)
    return Attribute(field.name, literals.annotation(field), default, prose.field_docstring(field))


def _collection(struct: StructPlan) -> Collection:
    arguments = ", ".join(field.name for field in struct.keys)
    key = ", ".join(f"element.{field.name}" for field in struct.keys)
    is_single = len(struct.keys) == 1
    return Collection(
        name=naming.collection(struct.name),
        about=f"{struct.name} in order, found by {' and '.join(field.name for field in struct.keys)}.",
        key=key if is_single else f"({key})",
        parameters=", ".join(f"{field.name}: {literals.annotation(field)}" for field in struct.keys),
        arguments=arguments if is_single else f"({arguments})",
    )


def _bind(plan: MessagePlan) -> Bind:
    codecs = sorted((version, _codec(layout.ref)) for layout in plan.body.layouts for version in layout.versions)
    facts = plan.facts
    pieces = [facts[at : at + FACTS_WIDTH] for at in range(0, len(facts), FACTS_WIDTH)]
    return Bind(_constants_base(plan.name), tuple(codecs), tuple(map(_literal, pieces)))


def _codec(ref: LayoutRef) -> str:
    return ", ".join(naming.function(action, ref) for action in ("read", "write", "size"))


def _literal(text: str) -> str:
    quote = "'" if "'" not in text else '"'
    escaped = text.replace("\\", "\\\\")
    return quote + (escaped.replace('"', '\\"') if quote == '"' else escaped) + quote
