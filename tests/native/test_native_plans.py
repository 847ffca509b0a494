"""Invalid plan texts raise an error with the line, or do no harm."""

from __future__ import annotations

import gc
import random
import re
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kafka_messages import HeartbeatRequest, RawTaggedField
from kafka_messages._core.collection import KeyedCollection

from tests.support.implementations import LEFT, bare_calls

core: Any = pytest.importorskip("kafka_messages_native")


class Inner:
    a: int
    b: str
    unknown_tagged_fields: tuple[RawTaggedField, ...]
    __slots__ = ("a", "b", "unknown_tagged_fields")


class Outer:
    number: int
    name: str
    flag: bool
    numbers: list[int]
    inner: Inner
    _late: Inner | None
    unknown_tagged_fields: tuple[RawTaggedField, ...]
    __slots__ = ("_late", "flag", "inner", "name", "number", "numbers", "unknown_tagged_fields")


class InnerCollection(KeyedCollection[Inner]):
    __slots__ = ()


class OuterCollection(list[Outer]):
    """A collection class without a slot for its index."""

    __slots__ = ()


class Nothing:
    __slots__ = ("unknown_tagged_fields",)


class WithDict:
    pass


class WithoutTags:
    __slots__ = ("a",)


class Weak:
    __slots__ = ("__weakref__", "a", "unknown_tagged_fields")


CLASSES: dict[str, object] = {
    each.__name__: each
    for each in (Inner, Outer, InnerCollection, OuterCollection, Nothing, WithDict, WithoutTags, Weak)
}
CLASSES |= {"int": int, "NoClass": 5}
ZERO_UUID, NULLED, UNSET = UUID(int=0), object(), object()
PACKAGE = core.Package(RawTaggedField, ZERO_UUID, NULLED, UNSET, lambda cls, message: message, lambda cls: None)
GOOD = """1
:Inner a/i b/s?
0 0 1
1-2 0 1c ; ^3
:Outer number/q name/s=x%20y flag/t=1 inner/@Inner numbers/[i late/~@Inner
0 0 1 2 3@0 4 -5
1 0 1c 2 3@1 4c ; 0=5@1
2 0:i 1cn 2 3@1n 4nc ; 1=5@1n ^0
"""
INNER = "1\n:Inner a/i b/s\n0 0 1\n"


def make_plan(text: str) -> Any:
    return core.Plan(PACKAGE, text, CLASSES)


def plan_calls(taken: Any, cls: Any) -> list[Any]:
    """Return `read`, `read_from`, `write` and `size` of a plan; declined calls return LEFT."""
    found = bare_calls(cls, taken, PACKAGE)
    return [found[name] for name in ("read", "read_from", "write", "size")]


def test_valid_plan_round_trips() -> None:
    read, _, write, _ = plan_calls(make_plan(GOOD.replace("4nc", "4cn")), Outer)
    for version in range(3):
        message = object.__new__(Outer)
        inner = object.__new__(Inner)
        inner.a, inner.b, inner.unknown_tagged_fields = 5, "b", ()
        message.number, message.name, message.flag, message.numbers = 7, "n", False, [1, 2]
        message.inner, message._late, message.unknown_tagged_fields = inner, None, ()
        again = read(write(message, version), version)
        assert (again.number, again.name, again.flag, again.numbers) == (7, "n", False, [1, 2])
        assert (again.inner.a, again.inner.b, again._late) == (5, "b", None)


def test_plan_is_untracked_until_complete() -> None:
    """Other code could read messages with an incomplete plan, if it found one."""

    def plans() -> int:
        return sum(type(each) is core.Plan for each in gc.get_objects())

    class Classes(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            seen.append(plans())
            return super().__getitem__(name)

    seen: list[int] = []
    before = plans()
    plan = core.Plan(PACKAGE, GOOD.replace("4nc", "4cn"), Classes(CLASSES))
    assert seen == [before] * 2
    assert gc.is_tracked(plan)


DAMAGED = [
    ("", "line 1 of the plan: expected a number"),
    ("x\n", "line 1 of the plan: expected a number"),
    ("2\n", "line 1 of the plan: unsupported plan format"),
    ("99999999999999999999\n", "line 1 of the plan: a number is too large"),
    ("1", "line 1 of the plan: expected a newline"),
    ("1\n", "line 2 of the plan: the message has no versions"),
    ("1 \n", "line 1 of the plan: expected a newline"),
    ("1\n0 0\n", "line 2 of the plan: a layout before the first struct"),
    ("1\n:\n", "line 2 of the plan: expected a name of 1 to 1000 bytes"),
    (f"1\n:{'x' * 1001}\n", "line 2 of the plan: expected a name of 1 to 1000 bytes"),
    ("1\n:Gone a/i\n0 0\n", "line 2 of the plan: unknown class 'Gone'"),
    ("1\n:NoClass a/i\n0 0\n", "line 2 of the plan: unknown class 'NoClass'"),
    ("1\n:int a/i\n0 0\n", "line 2 of the plan: the class of a struct must have only __slots__"),
    ("1\n:WithDict a/i\n0 0\n", "line 2 of the plan: the class of a struct must have only __slots__"),
    ("1\n:Weak a/i\n0 0\n", "line 2 of the plan: the class of a struct must have only __slots__"),
    ("1\n:InnerCollection a/i\n0 0\n", "line 2 of the plan: the class of a struct must have only __slots__"),
    ("1\n:Inner " + "a/i " * 600 + "\n", "line 2 of the plan: a struct has more than 512 fields"),
    (
        "1\n:Inner a/i b/s unknown_tagged_fields/s\n0 0 1 2\n",
        "line 2 of the plan: two fields of a struct have the same slot",
    ),
    ("1\n:Inner a/i a/i\n0 0 1\n", "line 2 of the plan: two fields of a struct have the same slot"),
    ("1\n:Inner a/i  b/s\n", "line 2 of the plan: expected a name of 1 to 1000 bytes"),
    ("1\n:Inner a\n", "line 2 of the plan: expected '/' after the name of a field"),
    ("1\n:Inner a/\n", "line 2 of the plan: unknown type letter"),
    ("1\n:Inner a/x\n", "line 2 of the plan: unknown type letter"),
    ("1\n:Inner a/\0\n", "line 2 of the plan: unknown type letter"),
    ("1\n:Inner a/{i\n", "line 2 of the plan: expected a type, and after '{' a struct"),
    ("1\n:Inner a/", "line 2 of the plan: expected a type, and after '{' a struct"),
    ("1\n:Inner a/@\n", "line 2 of the plan: expected a name of 1 to 1000 bytes"),
    ("1\n:Inner a/@Inner\n", "line 2 of the plan: a field has a struct that is not defined before it"),
    ("1\n:Inner a/@Gone\n", "line 2 of the plan: a field has a struct that is not defined before it"),
    ("1\n:Inner a/ix\n", "line 2 of the plan: unexpected characters after a field"),
    ("1\n:Inner a/~i\n", "line 2 of the plan: '~' requires a struct whose default is not null"),
    ("1\n:Inner a/i=9223372036854775808\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/i=-9223372036854775809\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/i=\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/i=-\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/i=1%002\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/d=x\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/d=1.5x\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/u=x\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/t=2\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/y=x\n", "line 2 of the plan: a default does not have the type of its field"),
    ("1\n:Inner a/[i=1\n", "line 2 of the plan: the default of an array or struct can only be null"),
    (INNER + ":Outer inner/@Inner=1\n", "line 4 of the plan: the default of an array or struct can only be null"),
    (INNER + ":Outer late/~@Inner=~\n", "line 4 of the plan: '~' requires a struct whose default is not null"),
    (INNER + ":Outer inner/{@Outer\n", "line 4 of the plan: a field has a struct that is not defined before it"),
    (
        "1\n:Outer\n0\n:Outer inner/{@Outer\n0 0@0e\n",
        "line 4 of the plan: a collection must be a list with exactly one slot",
    ),
    ("1\n:Nothing\n0\n:Outer inner/{@Nothing\n0 0@0e\n", "line 4 of the plan: unknown class 'NothingCollection'"),
    (INNER.replace("0 0 1", "0 0"), "line 3 of the plan: a layout does not list every field"),
    (INNER.replace("0 0 1", "0"), "line 3 of the plan: a layout does not list every field"),
    (INNER.replace("0 0 1", "0 0 0"), "line 3 of the plan: a layout has a field twice"),
    (INNER.replace("0 0 1", "0 0 2"), "line 3 of the plan: a layout has a field that its struct does not have"),
    (INNER.replace("0 0 1", "0 0 513"), "line 3 of the plan: a number is too large"),
    (INNER.replace("0 0 1", "0 0 x"), "line 3 of the plan: expected a number"),
    (INNER.replace("0 0 1", "0 0 "), "line 3 of the plan: expected a number"),
    (INNER.replace("0 0 1", "0 0@0 1"), "line 3 of the plan: a layout for a field that is not a struct"),
    (INNER.replace("0 0 1", "0 0:s 1"), "line 3 of the plan: ':' requires an integer type and an integer field"),
    (INNER.replace("0 0 1", "0 0: 1"), "line 3 of the plan: ':' requires an integer type and an integer field"),
    (INNER.replace("0 0 1", "0 0 1:i"), "line 3 of the plan: ':' requires an integer type and an integer field"),
    (INNER.replace("0 0 1", "0 0 1v32"), "line 3 of the plan: a varint for a field that is not an integer"),
    (INNER.replace("0 0 1", "0 0v8 1"), "line 3 of the plan: a varint must have 16, 32 or 64 bits"),
    (INNER.replace("0 0 1", "0 0z65 1"), "line 3 of the plan: a number is too large"),
    (INNER.replace("0 0 1", "0 0c 1"), "line 3 of the plan: the field cannot be compact or nullable"),
    (INNER.replace("0 0 1", "0 0n 1"), "line 3 of the plan: the field cannot be compact or nullable"),
    (INNER.replace("0 0 1", "0 0 1e"), "line 3 of the plan: flag 'e' contradicts the element size"),
    (INNER.replace("0 0 1", "0 0 1nc"), "line 3 of the plan: unexpected characters after an operation"),
    (INNER.replace("0 0 1", "0 0 -1x"), "line 3 of the plan: unexpected characters after an absent field"),
    (INNER.replace("0 0 1", "0 0 1 ;x"), "line 3 of the plan: unexpected characters at the start of a tag section"),
    (INNER.replace("0 0 1", "0 0 ; 0"), "line 3 of the plan: expected '=' and a field after a tag"),
    (INNER.replace("0 0 1", "0 ; 1=0 1=1"), "line 3 of the plan: tags must be in ascending order"),
    (INNER.replace("0 0 1", "0 ; 2=0 1=1"), "line 3 of the plan: tags must be in ascending order"),
    (INNER.replace("0 0 1", "0 0 ; 1=1 ^1"), "line 3 of the plan: a tag is listed both with a field and with '^'"),
    (INNER.replace("0 0 1", "0 0 1 ; ^1x"), "line 3 of the plan: unexpected characters after a tag"),
    (INNER.replace("0 0 1", "0 0 1 ; ^4294967296"), "line 3 of the plan: a number is too large"),
    (INNER.replace("0 0 1", "2-1 0 1"), "line 3 of the plan: the first version of a range is higher than the last"),
    (INNER.replace("0 0 1", "0x 0 1"), "line 3 of the plan: unexpected characters after versions"),
    (INNER.replace("0 0 1", "0, 0 1"), "line 3 of the plan: expected a number"),
    (INNER.replace("0 0 1", "32768 0 1"), "line 3 of the plan: a number is too large"),
    (INNER.replace("0 0 1", "0-2,1 0 1"), "line 4 of the plan: a version is listed twice"),
    (INNER + "0 0 1\n", "line 5 of the plan: a version is listed twice"),
    (INNER + ":Outer", "line 4 of the plan: expected a newline"),
    (INNER + ":Outer inner/@Inner\n0 0@1\n", "line 5 of the plan: a field has a layout that is not defined before it"),
    (INNER + ":Outer inner/@Inner\n0 0\n", "line 5 of the plan: a struct field without a layout"),
    (INNER + ":Outer inner/@Inner numbers/[i\n0 0@0 1\n1 0@1 1\n", "line 6 of the plan: the layout of another struct"),
    ("1\n:Nothing\n0\n:Outer inner/[@Nothing\n0 0@0\n", "line 5 of the plan: flag 'e' contradicts the element size"),
]


@pytest.mark.parametrize(("text", "message"), DAMAGED, ids=[message[5:] for _, message in DAMAGED])
def test_damaged_plan_raises_value_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make_plan(text)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("1\n:Inner c/i\n0 0\n", TypeError, "Inner.c is not a slot"),
        ("1\n:Inner __doc__/i\n0 0\n", TypeError, "Inner.__doc__ is not a slot"),
        ("1\n:WithoutTags a/i\n0 0\n", TypeError, "WithoutTags.unknown_tagged_fields is not a slot"),
        (
            "1\n:Inner a/s=%FF\n0 0\n",
            UnicodeDecodeError,
            "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
        (
            "\ud800",
            UnicodeEncodeError,
            "'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed",
        ),
    ],
)
def test_damaged_plan_raises_python_errors(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        make_plan(text)
    assert str(caught.value) == message


def test_wrong_arguments_are_rejected() -> None:
    arguments: tuple[object, ...]
    for arguments in (
        (),
        (PACKAGE,),
        (PACKAGE, GOOD),
        (None, GOOD, {}),
        (PACKAGE, b"", {}),
        (PACKAGE, GOOD, []),
        (PACKAGE, GOOD, None),
    ):
        with pytest.raises(TypeError):
            core.Plan(*arguments)
    taken = make_plan(INNER)
    for arguments in ((), (PACKAGE,), (None, Inner, "read"), (PACKAGE, 5, "read"), (PACKAGE, Inner, b"read")):
        for make in (core.ReadMethod, core.WriteMethod, core.Reader):
            with pytest.raises(TypeError):
                make(*arguments)
    for make, known, wrong, missing in (
        (core.ReadMethod, "read or read_from", ("write", "", "reads"), "read"),
        (core.WriteMethod, "write, chunks or size", ("read", "writes"), "write"),
    ):
        for name in (*wrong, missing):
            message = f"{Inner} has no method" if name == missing else f"expected the name {known}, got"
            with pytest.raises(ValueError, match=f"^{re.escape(f'{message} {name!r}')}$"):
                make(PACKAGE, Inner, name)
    for arguments in ((), (taken,), (taken, 5), (None, Inner), (1, 2, 3, 4, 5, 6)):
        for make in (core.Maker, core.Package):
            with pytest.raises(TypeError):
                make(*arguments)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (core.Maker, (make_plan(INNER), Outer), f"{Outer} is not a class of the plan"),
        (core.use_maker, (Inner,), f"expected a class with its own Maker in _maker, got {Inner}"),
        (core.use_maker, (5,), "expected a class with its own Maker in _maker, got 5"),
        (core.Package, (WithDict, ZERO_UUID, *range(4)), "RawTaggedField must have only __slots__"),
        (core.Package, (RawTaggedField, 5, *range(4)), "expected a UUID of a supported memory layout, got int"),
        (core.Package, (RawTaggedField, object.__new__(UUID), *range(4)), "expected a UUID with the attribute is_safe"),
    ],
)
def test_wrong_classes_raise_type_error(function: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        function(*arguments)
    assert str(caught.value) == message


def test_structs_nested_too_deep_are_rejected() -> None:
    classes = {f"S{n}": type(f"S{n}", (), {"__slots__": ("a", "unknown_tagged_fields")}) for n in range(120)}

    def nested(count: int) -> str:
        lines = ["1", ":S0 a/i", "0 0"]
        for n in range(1, count):
            lines += [f":S{n} a/@S{n - 1}", f"0 0@{n - 1}"]
        return "\n".join([*lines, ""])

    taken = core.Plan(PACKAGE, nested(100), classes)
    read, _, write, _ = plan_calls(taken, classes["S99"])
    message = read(b"\0\0\0\5", 0)
    assert write(message, 0) == b"\0\0\0\5"
    with pytest.raises(ValueError, match=r"^line 202 of the plan: structs are nested more than 100 levels deep$"):
        core.Plan(PACKAGE, nested(101), classes)


def test_too_large_struct_is_rejected() -> None:
    classes = {f"S{n}": type(f"S{n}", (), {"__slots__": ("a", "b", "unknown_tagged_fields")}) for n in range(40)}
    lines = ["1", ":S0 a/q b/q", "0 0 1"]
    for n in range(1, 40):
        lines += [f":S{n} a/@S{n - 1} b/@S{n - 1}", f"0 0@{n - 1} 1@{n - 1}"]
    with pytest.raises(ValueError, match=r"^line 55 of the plan: the minimum size of a struct is 1 GiB or more$"):
        core.Plan(PACKAGE, "\n".join([*lines, ""]), classes)


def test_empty_elements_are_bounded() -> None:
    class Single:
        __slots__ = ("inner", "unknown_tagged_fields")

    taken = core.Plan(PACKAGE, "1\n:Nothing\n0\n:Single inner/[@Nothing\n0 0@0e\n", CLASSES | {"Single": Single})
    read, *_ = plan_calls(taken, Single)
    assert len(read(b"\0\0\xff\xff", 0).inner) == 65535
    assert read(b"\0\1\0\0", 0) is LEFT
    assert read(b"\x7f\xff\xff\xff", 0) is LEFT


@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(st.data())
def test_random_plan_texts_are_rejected_or_harmless(data: st.DataObject) -> None:
    pieces = sorted(set(GOOD.replace("\n", " \n ").split(" ")) | set("cnew?~[{@:=!-^;&,+/% \n0123456789tiqsyud"))
    words = data.draw(st.lists(st.sampled_from(pieces), max_size=12))
    at, end = sorted((data.draw(st.integers(0, len(GOOD))), data.draw(st.integers(0, len(GOOD)))))
    text = GOOD[:at] + data.draw(st.sampled_from(("", " "))).join(words) + GOOD[min(end, at + 20) :]
    try:
        taken = make_plan(text)
    except (ValueError, TypeError):
        return
    read, read_from, write, size = plan_calls(taken, Outer)
    for version in range(3):
        for given_bytes in (bytes(40), data.draw(st.binary(max_size=40))):
            message = read(given_bytes, version)
            if message is not LEFT:
                write(message, version)
                size(message, version)
            read_from(given_bytes, 0, version)


def test_damaged_generated_plans_are_rejected_or_harmless() -> None:
    cases = pytest.importorskip("tests.fuzz.cases")
    counts: Counter[str] = Counter()
    for number in range(400):
        cases.plan(random.Random(number), counts)
    assert counts["plan"] == 400
    assert 100 < counts["plan refused"] < 400
    assert HeartbeatRequest.read(HeartbeatRequest().write(4), 4) == HeartbeatRequest()
