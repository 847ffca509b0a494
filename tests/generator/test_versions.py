"""Version ranges: parsing, formatting and set operations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_message_generator.spec.versions import ALL, MAX_VERSION, NONE, Versions, VersionsError

numbers = st.integers(0, MAX_VERSION)
ranges = st.one_of(st.just(NONE), st.tuples(numbers, numbers).map(lambda ends: Versions(min(ends), max(ends))))
# Small and empty ranges with all kinds of overlap.
near = st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda ends: Versions(*ends))


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("none", NONE),
        ("0", Versions(0, 0)),
        ("7", Versions(7, 7)),
        ("0-3", Versions(0, 3)),
        ("2-2", Versions(2, 2)),
        ("0+", ALL),
        ("3+", Versions(3, MAX_VERSION)),
        ("0-32767", ALL),
        ("32767", Versions(MAX_VERSION, MAX_VERSION)),
        ("32767+", Versions(MAX_VERSION, MAX_VERSION)),
        ("  4-5\t", Versions(4, 5)),
        ("+3", Versions(3, 3)),
        ("+1-+3", Versions(1, 3)),
        ("007", Versions(7, 7)),
    ],
)
def test_valid_range_is_parsed(text: str, versions: Versions) -> None:
    """Kafka's reader accepts surrounding blanks, a plus sign and leading zeros."""
    assert Versions.parse(text) == versions


def no_range(text: str) -> str:
    return f"{text!r} is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        *((text, no_range(text)) for text in ("", " ", "a", "0 - 3", "1.5", "0x1", "-1", "-1+", "-", "+", "1-", "-3")),
        *((text, no_range(text)) for text in ("1-2-3", "1++", "1+2", "0+-3", "None", "NONE", "none+", "1_0", "٣", "²")),
        ("32768", "version 32768 in '32768' is above 32767, the largest int16"),
        ("0-40000", "version 40000 in '0-40000' is above 32767, the largest int16"),
        ("99999+", "version 99999 in '99999+' is above 32767, the largest int16"),
        ("3-1", "version range '3-1' is descending; write 1-3 or none"),
        (" 32767-0 ", "version range ' 32767-0 ' is descending; write 0-32767 or none"),
    ],
)
def test_invalid_range_raises_versions_error(text: str, complaint: str) -> None:
    """Kafka's reader takes a descending range as empty."""
    with pytest.raises(VersionsError) as caught:
        Versions.parse(text)
    assert str(caught.value) == complaint


def test_version_of_5000_digits_is_rejected() -> None:
    with pytest.raises(VersionsError, match=r"^a version of 5000 digits is above 32767, the largest int16$"):
        Versions.parse("9" * 5000)
    assert Versions.parse("0" * 5000 + "7") == Versions(7, 7)


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        (NONE, "none"),
        (Versions(5, 2), "none"),
        (Versions(2, 2), "2"),
        (Versions(1, 3), "1-3"),
        (ALL, "0+"),
        (Versions(MAX_VERSION, MAX_VERSION), "32767+"),
    ],
)
def test_versions_are_formatted(versions: Versions, text: str) -> None:
    assert str(versions) == text


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [("1-3", "2-4", "2-3"), ("0+", "3", "3"), ("9+", "2-8", "none"), ("none", "none", "none"), ("0-2", "2+", "2")],
)
def test_ranges_are_intersected(one: str, other: str, both: str) -> None:
    assert Versions.parse(one).intersect(Versions.parse(other)) == Versions.parse(both)


@pytest.mark.parametrize(
    ("outer", "inner", "is_covered"),
    [
        ("2-3", "2-3", True),
        ("2-3", "2", True),
        ("2-3", "none", True),
        ("none", "none", True),
        ("2-3", "2-4", False),
        ("2-3", "1", False),
        ("0+", "1-2", True),
        ("none", "0", False),
    ],
)
def test_range_covers_subranges(outer: str, inner: str, is_covered: bool) -> None:
    assert Versions.parse(outer).covers(Versions.parse(inner)) is is_covered


def test_range_supports_in_and_iteration() -> None:
    versions = Versions.parse("2-4")
    assert [version for version in range(7) if version in versions] == [2, 3, 4] == list(versions)
    assert list(NONE) == []
    assert 100 in ALL
    assert 0 not in NONE


def test_range_up_to_the_largest_version_is_open_ended() -> None:
    assert [Versions.parse(text).open_ended for text in ("0+", "5+", "0-32767", "0-3", "none")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@given(ranges)
def test_str_and_parse_round_trip(versions: Versions) -> None:
    assert Versions.parse(str(versions)) == versions


@given(near, near)
def test_intersection_contains_common_versions(one: Versions, other: Versions) -> None:
    both = one.intersect(other)
    assert both == other.intersect(one)
    assert list(both) == [version for version in one if version in other]
    assert not both.empty or both == NONE


@given(near, near)
def test_covers_equals_containing_every_version(outer: Versions, inner: Versions) -> None:
    assert outer.covers(inner) is all(version in outer for version in inner)
    assert outer.covers(inner) is (list(outer.intersect(inner)) == list(inner))


@given(ranges, ranges, ranges)
def test_covers_is_reflexive_and_transitive(first: Versions, second: Versions, third: Versions) -> None:
    assert first.covers(first)
    assert first.covers(first.intersect(second))
    if first.covers(second) and second.covers(third):
        assert first.covers(third)
