"""Expressions of generated code: text and required imports."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kafka_message_generator.render import code
from kafka_message_generator.render.code import (
    Code,
    bound,
    call,
    equal,
    imports,
    is_,
    is_not,
    joined,
    names_of,
    negated,
    not_,
    use,
)


def test_expression_requires_the_imports_of_its_operands() -> None:
    size = call(use("read_uvarint"), code.code("{} + 1", use("TEXT_LENGTHS")))
    assert str(size) == "read_uvarint(TEXT_LENGTHS + 1)"
    assert size.names == {"read_uvarint", "TEXT_LENGTHS"}
    both = joined(", ", (size, "plain", bound("pack", ("h", "i"))))
    assert str(both) == "read_uvarint(TEXT_LENGTHS + 1), plain, _pack_hi"
    assert both.names == {"read_uvarint", "TEXT_LENGTHS", "Struct"}
    assert {method.value for method in both.bound} == {'Struct(">hi").pack'}


def test_identifiers_in_string_literals_need_no_import() -> None:
    assert names_of("read_uvarint(UNSET)") == frozenset()
    assert code.code("x == {}", repr("_pack_hi")).bound == frozenset()


def test_bound_structs_have_unique_names() -> None:
    method = bound("unpack", ("16s", "?", "q"))
    assert str(method) == "_unpack_uoq"
    assert [each.value for each in method.bound] == ['Struct(">16s?q").unpack_from']


def test_unknown_name_raises() -> None:
    with pytest.raises(KeyError, match=r"^'HOMES has no module for not_there'$"):
        use("not_there")


@pytest.mark.parametrize(
    ("tests", "opposite"),
    [
        ((is_("a", None),), "a is not None"),
        ((is_not("a", None),), "a is None"),
        ((is_("text is good", None),), "text is good is not None"),
        ((equal("a", '" is "'),), 'a != " is "'),
        ((not_("a"),), "a"),
        ((Code("same(a, b)"),), "not same(a, b)"),
        ((is_("a", None), equal("b", "0")), "not (a is None and b == 0)"),
        ((), "not True"),
    ],
)
def test_negated_condition_has_the_expected_text(tests: tuple[Code, ...], opposite: str) -> None:
    assert str(negated(tests)) == opposite


def test_negation_keeps_the_imports_of_the_condition() -> None:
    test = is_(use("UNSET"), None)
    once = negated((test,))
    assert once.names == {"UNSET"}
    assert str(negated((once,))) == str(test)


@dataclass(frozen=True)
class Part:
    """A step that contains an expression in each field."""

    first: Code
    rest: tuple[dict[str, Code], ...]


def test_expressions_are_found_in_nested_steps() -> None:
    part = Part(use("UNSET"), ({"a": use("UUID")}, {"b": Code("c")}))
    assert names_of([part, "text", 5]) == {"UNSET", "UUID"}


def test_imports_are_sorted_by_module() -> None:
    text = "from __future__ import annotations\n\nfrom uuid import UUID\n\nfrom .._core.wire import UNSET, new\n\n"
    assert imports(frozenset(("new", "UUID", "UNSET"))).replace("\n\n\n", "\n\n") == text
    assert imports(frozenset()).strip() == "from __future__ import annotations"


def test_each_name_is_imported_from_one_module() -> None:
    names = [name for each in code.HOMES.values() for name in each.split()]
    assert sorted(names) == sorted(set(names))
