"""Python expressions with the imports they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass

# Importable names of generated code by module, in import order.
HOMES = {
    "collections.abc": "Iterable",
    "struct": "Struct",
    "uuid": "UUID",
    ".._base.message": "Message Request Response",
    ".._core.arrays": (
        "NO_LISTS PACK_B PACK_H PACK_I PACK_Q UNPACK_B UNPACK_H UNPACK_I UNPACK_Q bool_array bool_elements "
        "bytes_array bytes_elements compact_bytes_array compact_bytes_elements compact_string_array "
        "compact_string_elements elements_of empty_count fixed_array fixed_elements float_array long_count "
        "long_fixed_array long_nullable_count long_nullable_fixed_array string_array string_elements uuid_array "
        "uuid_elements"
    ),
    ".._core.collection": "KeyedCollection",
    ".._core.dataclass": "dataclass field",
    ".._core.encodings": (
        "PACKED16 PACKED32 PACKED64 UPACKED16 UPACKED32 UPACKED64 interleaved_header interleaved_tags long_packed "
        "long_upacked optional optional_header optional_length packed16_array packed16_elements packed32_array "
        "packed32_elements packed64_array packed64_elements unknown_interleaved_tags unknown_optional upacked16_array "
        "upacked16_elements upacked32_array upacked32_elements upacked64_array upacked64_elements"
    ),
    ".._core.structs": "LazyDefaults StructBase",
    ".._core.wire": (
        "TEXT_LENGTHS TRUTH UNSET VARINTS ZERO_UUID Malformed RawTaggedField RawTaggedFields Refused in_order "
        "long_bytes long_nullable_bytes long_nullable_string long_string long_uvarint new read_uvarint same_floats "
        "tag_header tags unknown_tags uuid_from"
    ),
}

# Names for type checkers only.
CHECKED = {"typing": "Never TypeAlias"}

_KNOWN = frozenset(name for homes in (HOMES, CHECKED) for names in homes.values() for name in names.split())
_LETTERS = {"16s": "u", "?": "o"}


@dataclass(frozen=True, order=True)
class Bound:
    """Method of a ``struct.Struct``, bound to a module-level name such as ``_unpack_hiiB``."""

    action: str
    codes: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"_{self.action}_{''.join(_LETTERS.get(code, code) for code in self.codes)}"

    @property
    def value(self) -> str:
        method = {"pack": "pack", "unpack": "unpack_from"}[self.action]
        return f'Struct(">{"".join(self.codes)}").{method}'


@dataclass(frozen=True)
class Code:
    """Python expression, and the names it imports; an expression without imports can be a plain ``str``."""

    text: str
    names: frozenset[str] = frozenset()
    """Names to import, listed in ``HOMES`` or ``CHECKED``."""
    bound: frozenset[Bound] = frozenset()
    opposite: str = ""
    """Negation of a test, if simpler than ``not``."""

    def __str__(self) -> str:
        return self.text


Part = Code | str


def use(name: str) -> Code:
    """Return an imported name. Raises KeyError for a name that neither ``HOMES`` nor ``CHECKED`` lists."""
    if name not in _KNOWN:
        raise KeyError(f"HOMES has no module for {name}")
    return Code(name, frozenset((name,)))


def bound(action: str, codes: tuple[str, ...]) -> Code:
    method = Bound(action, codes)
    return Code(method.name, frozenset(("Struct",)), frozenset((method,)))


def code(template: str, *parts: Part) -> Code:
    """Fill a template with ``parts``; the result also needs the imports of the parts."""
    return Code(template.format(*parts), names_of(parts), bound_of(parts))


def call(function: Part, *arguments: Part) -> Code:
    """Return a function call; a function given as ``str`` needs no import."""
    return code("{}({})", function, joined(", ", arguments))


def joined(separator: str, parts: Iterable[Part]) -> Code:
    parts = tuple(parts)
    return Code(separator.join(map(str, parts)), names_of(parts), bound_of(parts))


def test(positive: str, negative: str, *parts: Part) -> Code:
    """Return a condition that has its negation as ``opposite``; both are templates for ``parts``."""
    texts = tuple(map(str, parts))
    return Code(positive.format(*texts), names_of(parts), bound_of(parts), negative.format(*texts))


def is_(value: Part, singleton: object) -> Code:
    return test(f"{{}} is {singleton}", f"{{}} is not {singleton}", value)


def is_not(value: Part, singleton: object) -> Code:
    return test(f"{{}} is not {singleton}", f"{{}} is {singleton}", value)


def equal(left: Part, right: Part) -> Code:
    return test("{} == {}", "{} != {}", left, right)


def not_(value: Part) -> Code:
    return test("not {}", "{}", value)


def negated(tests: Iterable[Code]) -> Code:
    tests = tuple(tests)
    both = joined(" and ", tests or ("True",))
    if len(tests) == 1 and tests[0].opposite:
        return Code(tests[0].opposite, both.names, both.bound, tests[0].text)
    return code("not ({})" if len(tests) > 1 else "not {}", both)


def names_of(value: object) -> frozenset[str]:
    return frozenset(name for each in _expressions(value) for name in each.names)


def bound_of(value: object) -> frozenset[Bound]:
    return frozenset(method for each in _expressions(value) for method in each.bound)


def imports(names: frozenset[str], others: Sequence[str] = ()) -> str:
    """Return the imports of ``names`` for the top of a module; ``others`` are import lines for type checkers only."""
    lines = ["from __future__ import annotations", ""]
    for line in _lines(HOMES, names):
        if line.startswith("from ..") and lines[-1] and not lines[-1].startswith("from .."):
            lines.append("")
        lines.append(line)
    typing = [*_lines(CHECKED, names)]
    if checked := [*typing, *([""] if typing and others else []), *others]:
        lines += ["\nTYPE_CHECKING = False", "if TYPE_CHECKING:", *(f"    {line}" for line in checked)]
    return "\n".join(lines) + "\n\n"


def _lines(homes: dict[str, str], names: frozenset[str]) -> Iterator[str]:
    for module, known in homes.items():
        needed = [name for name in known.split() if name in names]
        if needed:
            yield f"from {module} import {', '.join(needed)}"


def _expressions(value: object) -> Iterable[Code]:
    if isinstance(value, Code):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _expressions(each)
    elif isinstance(value, dict):
        yield from _expressions(tuple(value.values()))
    elif is_dataclass(value):
        for each in fields(value):
            yield from _expressions(getattr(value, each.name))
