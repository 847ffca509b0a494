"""Messages at each version: absent fields, null, struct presence and headers; methods of message objects."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import math
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support import shapes
from tests.support.building import build_package, module_of
from tests.support.specs import field, message

ABSENT = message(
    field("Always"),
    field("Refused", "int32", "1+", default="-1"),
    field("Dropped", "string", "1+", default="none", ignorable=True),
    field("RefusedNull", "string", "1+", nullableVersions="1+"),
    field("RefusedNumbers", "[]int8", "1+"),
    field("RefusedPart", "Part", "1+", fields=[field("X", versions="1+", default="3")]),
    field("Gone", "bool", "0", default="true"),
    name="Absent",
    validVersions="0-1",
    flexibleVersions="none",
)
COMMON = message(
    field("One", "Shared"),
    field("Two", "Shared", nullableVersions="1+"),
    field("Many", "[]Shared"),
    commonStructs=[
        {"name": "Shared", "versions": "0+", "fields": [field("X", "int8"), field("Deep", "Deep")]},
        {"name": "Deep", "versions": "0+", "fields": [field("Y", "string", "1+", ignorable=True)]},
    ],
    name="Common",
    validVersions="0-1",
    flexibleVersions="none",
)
RECORDS = message(
    field("Topic", "string"),
    field("Batch", "records", nullableVersions="0+"),
    field("Full", "records", nullableVersions="1+"),
    name="Batches",
    validVersions="0-1",
    flexibleVersions="1+",
)
FLOATS = message(
    field("Ratio", "float64"),
    field("Many", "[]float64"),
    field("P", "P", fields=[field("R", "float64")]),
    name="Floats",
)
EMPTY = message(
    field("Nothing", "[]Empty", fields=[field("X", versions="9+")]),
    field("Last", "int8"),
    name="Hollow",
    flexibleVersions="none",
)
HIGH = message(field("X", "int16"), name="High", validVersions="3-5", flexibleVersions="4+")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    definitions = (ABSENT, COMMON, RECORDS, FLOATS, EMPTY, HIGH, shapes.HEADER, shapes.NULLABLE_STRUCTS, shapes.GOATS)
    return build_package(tmp_path_factory.mktemp("versions"), *definitions)


def round_trip(built: Any, version: int, data: str) -> None:
    wanted = bytes.fromhex(data)
    assert built.write(version).hex() == wanted.hex()
    assert built.size(version) == len(wanted)
    assert type(built).read(wanted, version) == built


def test_default_values_of_fields_that_a_version_lacks_are_dropped(package: ModuleType) -> None:
    built = package.Absent(always=5)
    round_trip(built, 0, "00000005 01")
    round_trip(built, 1, "00000005 ffffffff 00046e6f6e65 0000 00000000 00000003")


@pytest.mark.parametrize(
    ("name", "value"),
    [("refused", 0), ("refused_null", "x"), ("refused_null", None), ("refused_numbers", [0])],
)
def test_other_value_of_a_field_that_the_version_lacks_is_rejected(
    package: ModuleType, name: str, value: object
) -> None:
    with pytest.raises(package.EncodeError) as caught:
        package.Absent(**{name: value}).write(0)
    assert str(caught.value) == f"Absent v0: {name}: is set, but is not supported by version 0"


def test_absent_struct_is_compared_with_its_default_by_fields(package: ModuleType) -> None:
    part = module_of(package.Absent).Part
    round_trip(package.Absent(refused_part=part(x=3)), 0, "00000000 01")
    with pytest.raises(
        package.EncodeError, match=r"^Absent v0: refused_part: is set, but is not supported by version 0"
    ):
        package.Absent(refused_part=part(x=4)).write(0)


def test_value_of_field_removed_in_later_version_is_rejected(package: ModuleType) -> None:
    with pytest.raises(package.EncodeError, match=r"^Absent v1: gone: is set, but is not supported by version 1$"):
        package.Absent(gone=False).write(1)


def test_ignorable_value_of_absent_field_is_dropped(package: ModuleType) -> None:
    assert package.Absent(dropped="x").write(0) == package.Absent().write(0)


def test_fields_that_a_version_lacks_are_read_as_independent_defaults(package: ModuleType) -> None:
    data = package.Absent().write(0)
    first, second = (package.Absent.read(data, 0) for _ in range(2))
    assert first == second == package.Absent()
    assert (first.refused, first.dropped, first.refused_part.x) == (-1, "none", 3)
    first.refused_numbers.append(1)
    first.refused_part.x = 9
    assert second == package.Absent()
    assert package.Absent().refused_numbers == []


def test_unknown_version_raises_unsupported_version_error(package: ModuleType) -> None:
    """Kafka's classes accept any version number."""
    known = r"^High has no version {} only versions 3 to 5$"
    for version in (-1, 0, 2, 6, 32767):
        for act in (package.High().write, package.High().size, lambda v: package.High.read(b"\0\0", v)):
            with pytest.raises(package.UnsupportedVersionError, match=known.format(f"{version},")):
                act(version)
        with pytest.raises(package.UnsupportedVersionError, match=known.format(f"{version},")):
            package.High.read_from(b"\0\0", 0, version)
    for odd in ("3", None, 3.5):
        with pytest.raises(package.UnsupportedVersionError):
            package.High().write(odd)


def test_message_class_has_name_key_and_version_constants(package: ModuleType) -> None:
    high, header = package.High, package.Header
    assert (high.NAME, high.API_KEY) == ("High", None)
    assert (high.LOWEST_SUPPORTED_VERSION, high.HIGHEST_SUPPORTED_VERSION, high.LOWEST_FLEXIBLE_VERSION) == (3, 5, 4)
    assert (package.Absent.LOWEST_FLEXIBLE_VERSION, header.LOWEST_FLEXIBLE_VERSION) == (32768, 2)


def test_header_client_id_is_not_compact_in_flexible_version(package: ModuleType) -> None:
    header = package.Header(api_key=3, api_version=9, correlation_id=42)
    round_trip(header, 0, "000300090000002a")
    round_trip(package.Header(api_key=3, api_version=9, correlation_id=42, client_id=None), 1, "000300090000002affff")
    header.client_id = "abc"
    round_trip(header, 1, "000300090000002a 0003616263")
    round_trip(header, 2, "000300090000002a 0003616263 00")
    assert header.write(0).hex() == "000300090000002a"


def test_nullable_structs_have_the_expected_bytes(package: ModuleType) -> None:
    inside = module_of(package.Parts)
    built = package.Parts()
    round_trip(built, 0, "ff 0000 00000000")
    for version in (1, 2):
        round_trip(built, version, "ff 01 01 00000000 00 00")
    round_trip(package.Parts(first=None, second=None, third=None, fourth=None), 2, "ff ff 01 01 01 00")
    full = package.Parts(
        first=inside.One(my_string="1", my_int=1),
        second=inside.Two(my_string="2", my_int=2),
        third=inside.Three(my_string="3", my_int=3),
        fourth=inside.Four(my_string="4", my_int=4),
    )
    fields = "01 0231 00000001 00 01 0232 00000002 00"
    round_trip(full, 2, f"{fields} 02 00 08 01 0233 00000003 00 01 08 01 0234 00000004 00")


def test_any_negative_presence_byte_is_read_as_null(package: ModuleType) -> None:
    null = package.Parts(second=None)
    for data in ("ffff00", "80ff00", "fffe00"):
        assert package.Parts.read(bytes.fromhex(data), 1) == null
    for presence in ("01", "00", "7f"):
        assert package.Parts.read(bytes.fromhex(f"ff {presence} 01 00000000 00 00"), 1) == package.Parts()


def test_null_struct_in_non_nullable_version_is_rejected(package: ModuleType) -> None:
    line = r"^Parts v0: second: must not be None in this version$"
    for act in (package.Parts(second=None).write, package.Parts(second=None).size):
        with pytest.raises(package.EncodeError, match=line):
            act(0)
    for name in ("third", "fourth"):
        changed = {"third": module_of(package.Parts).Three(), "fourth": None}[name]
        with pytest.raises(package.EncodeError, match=rf"^Parts v0: {name}: is set, but is not supported by version 0"):
            package.Parts(**{name: changed}).write(0)


def test_arrays_of_structs_have_the_expected_bytes(package: ModuleType) -> None:
    goat = module_of(package.Goats).Goat
    round_trip(package.Goats(sheep=[1, 2]), 0, "00000002 00000001 00000002")
    round_trip(package.Goats(goats=[goat(color=5)], sheep=[1, 2]), 1, "02 05 00 03 00000001 00000002 00")
    round_trip(package.Goats(goats=[goat(color=5, name="x")], sheep=[1, 2]), 2, "02 05 0278 00 03 00000001 00000002 00")
    with pytest.raises(
        package.EncodeError, match=r"^Goats v1: goats\[1\]\.name: is set, but is not supported by version 1"
    ):
        package.Goats(goats=[goat(), goat(name="x")]).write(1)


def test_common_struct_is_shared_by_fields(package: ModuleType) -> None:
    inside = module_of(package.Common)
    deep = inside.Deep(y="z")
    shared = inside.Shared(x=1, deep=deep)
    built = package.Common(one=shared, two=shared, many=[shared, inside.Shared()])
    round_trip(built, 1, "01 00017a 01 01 00017a 00000002 01 00017a 00 0000")
    assert built.write(0).hex() == "01 01 00000002 01 00".replace(" ", "")
    round_trip(package.Common(two=None), 1, "00 0000 ff 00000000")


def test_records_default_to_null_only_if_nullable(package: ModuleType) -> None:
    built = package.Batches()
    assert (built.batch, built.full) == (None, b"")
    round_trip(built, 0, "0000 ffffffff 00000000")
    round_trip(built, 1, "01 00 01 00")
    round_trip(package.Batches(topic="foo", batch=b"\0\1\2", full=b""), 0, "0003666f6f 00000003000102 00000000")
    assert package.Batches(batch=b"") != built


def test_nan_is_equal_to_itself(package: ModuleType) -> None:
    inside = module_of(package.Floats).P
    built = package.Floats(ratio=math.nan, p=inside(r=math.nan))
    assert built == package.Floats.read(built.write(0), 0)
    assert built != package.Floats(ratio=1.0, p=inside(r=math.nan))
    assert package.Floats(ratio=1.0) != package.Floats(ratio=math.nan)
    assert package.Floats(ratio=-0.0) == package.Floats(ratio=0.0)


def test_nan_in_an_array_is_equal_to_itself(package: ModuleType) -> None:
    built = package.Floats(many=[math.nan, 1.0])
    assert package.Floats.read(built.write(0), 0) == built


def test_array_of_empty_elements_is_limited_to_65535(package: ModuleType) -> None:
    empty = module_of(package.Hollow).Empty
    round_trip(package.Hollow(nothing=[empty()] * 3, last=7), 0, "00000003 07")
    round_trip(package.Hollow(), 0, "00000000 00")
    assert len(package.Hollow.read(bytes.fromhex("0000ffff07"), 0).nothing) == 65535
    for count in ("00010000", "7fffffff"):
        with pytest.raises(package.DecodeError, match=r"^Hollow v0: nothing: array of \d+ elements at offset 0, but"):
            package.Hollow.read(bytes.fromhex(f"{count}07"), 0)


def test_length_beyond_the_data_raises_decode_error(package: ModuleType) -> None:
    for data, version in (("7fffffff", 0), ("00000002 00000001", 0), ("7f00", 1), ("ffffffff0f", 2), ("0180808000", 1)):
        with pytest.raises(package.DecodeError):
            package.Goats.read(bytes.fromhex(data), version)


def test_repr_is_the_constructor_call(package: ModuleType) -> None:
    built = package.Goats(goats=[module_of(package.Goats).Goat(name="x")], sheep=[1])
    assert repr(built) == "Goats(goats=[Goat(color=0, name='x')], sheep=[1])"
    assert eval(repr(built), vars(module_of(package.Goats))) == built
    raw = package.RawTaggedField(5, b"x")
    assert repr(package.Goats(unknown_tagged_fields=(raw,))) == (
        "Goats(goats=[], sheep=[], unknown_tagged_fields=(RawTaggedField(tag=5, data=b'x'),))"
    )


def test_copied_and_pickled_messages_are_equal(package: ModuleType) -> None:
    goat = module_of(package.Goats).Goat
    built = package.Goats(goats=[goat(color=1)], sheep=[2], unknown_tagged_fields=(package.RawTaggedField(5, b"x"),))
    copies = [copy.copy(built), copy.deepcopy(built), dataclasses.replace(built)]
    copies += [pickle.loads(pickle.dumps(built, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for each in copies:
        assert each == built
        assert type(each) is type(built)
        assert each.write(2) == built.write(2)
    assert copies[1].goats[0] is not goat
    changed = dataclasses.replace(built, sheep=[3])
    assert (changed.sheep, changed.unknown_tagged_fields) == ([3], built.unknown_tagged_fields)
    assert built.sheep == [2]


def test_message_is_unhashable(package: ModuleType) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(package.Goats())
    assert package.Goats() != package.Parts()
    assert package.Goats() != "Goats"
    assert package.Goats() == package.Goats()


def test_derived_class_equals_its_base_class(package: ModuleType) -> None:
    for base, other in ((package.Goats, package.Parts), (package.Floats, package.Goats)):
        derived = type("Derived", (base,), {"own": 1})
        built = derived()
        built.own = 2
        assert built == derived() == base() == built
        built.unknown_tagged_fields = (package.RawTaggedField(1, b""),)
        assert built != base()
        assert derived() != other()
        assert base.__eq__(base(), other()) is NotImplemented
        assert base.__hash__ is derived.__hash__ is None


def test_only_classes_with_floats_define_eq(package: ModuleType) -> None:
    printed = [inspect.getsource(module_of(cls)).count("def __eq__") for cls in (package.Floats, package.Goats)]
    assert printed == [2, 0]


def test_constructor_accepts_only_keyword_arguments(package: ModuleType) -> None:
    with pytest.raises(TypeError):
        package.Goats([])
    with pytest.raises(TypeError):
        package.Goats(cows=[])
    given = [1]
    assert package.Goats(sheep=given).sheep == [1]
    assert package.Goats(sheep=iter(given)).sheep == [1]


def test_bytearray_and_memoryview_are_read(package: ModuleType) -> None:
    buffer = bytearray(package.Batches(topic="t", batch=b"abc").write(0))
    built = package.Batches.read(buffer, 0)
    for data in (buffer, memoryview(buffer)):
        assert package.Batches.read(data, 0) == built == package.Batches(topic="t", batch=b"abc")
        assert package.Batches.read_from(data, 0, 0) == (built, len(buffer))
    assert type(built.batch) is bytes
    buffer[:] = bytes(len(buffer))
    assert built.batch == b"abc"
    for offset in (-1, len(buffer) + 1):
        with pytest.raises(ValueError, match=rf"^offset {offset} is outside the {len(buffer)} bytes of data$"):
            package.Batches.read_from(buffer, offset, 0)


def test_message_modules_are_imported_lazily(package: ModuleType, tmp_path: Path) -> None:
    fresh = build_package(tmp_path, shapes.GOATS, shapes.HEADER)
    assert {"Goats", "Header", "DecodeError"} <= set(dir(fresh))
    assert not hasattr(importlib.import_module(f"{fresh.__name__}.messages"), "goats")
    assert fresh.Goats is fresh.Goats
    assert not hasattr(importlib.import_module(f"{fresh.__name__}.messages"), "header")
    with pytest.raises(AttributeError, match=f"^module '{fresh.__name__}' has no attribute 'Cows'$"):
        _ = fresh.Cows
    with pytest.raises(AttributeError):
        _ = package.Goat
