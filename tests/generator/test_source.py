"""The JSON parser: comments, values, errors and locations."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator.spec import source
from kafka_message_generator.spec.source import Node, Problems

NO_COMMA = "missing comma after this value; add one"


def read(text: str) -> object:
    problems = Problems()
    node = source.parse("Test.json", text, problems)
    assert problems.found == []
    assert node is not None
    return node.plain()


def complaints(text: str) -> list[str]:
    problems = Problems()
    source.parse("Test.json", text, problems)
    return list(map(str, problems.errors))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('// one\n{"a": 1} // two', {"a": 1}),
        ('/* one\n two */{/**/"a"/* x */:/* y */1/* z */}/* end */', {"a": 1}),
        ('/* a * b / c ** / d **/{"a": 1}', {"a": 1}),
        ('{"a": "// no comment /* at all */"}', {"a": "// no comment /* at all */"}),
        ('{"a": 1 // the last line has no newline\n}// end', {"a": 1}),
    ],
)
def test_comments_are_allowed_between_tokens(text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1,}', {"1: $": "}"}),
        ("[1, 2 , ]", {"1: $": "]"}),
        ('{"a": [ {"b": [],}, // both\n ],\n}', {"1: $.a": "]", "1: $.a[0]": "}", "2: $": "}"}),
    ],
)
def test_trailing_comma_is_a_warning(text: str, expected: dict[str, str]) -> None:
    problems = Problems()
    source.parse("Test.json", text, problems)
    why = "which Kafka's own generator rejects; remove it"
    lines = [f"Test.json:{place}: warning: trailing comma before {end!r}, {why}" for place, end in expected.items()]
    assert [str(each) for each in problems.warnings] == lines
    assert problems.errors == []


def test_byte_order_mark_is_skipped() -> None:
    assert read('\ufeff{"a": 1}') == {"a": 1}
    assert complaints("\ufeff#") == ["Test.json:1: $: expected a JSON value, found '#'"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("-17", -17),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("-2.5E-1", -0.25),
        ("9223372036854775808", 9223372036854775808),
        ("true", True),
        ("false", False),
        ("null", None),
        ('""', ""),
        ("{}", {}),
        ("[]", []),
        (' \t\r\n"x"\r\n', "x"),
    ],
)
def test_json_values_are_parsed(text: str, value: object) -> None:
    found = read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'),
        (r'"\u0041\u00e9\u20AC"', "Aé€"),
        (r'"\\u0041"', "\\u0041"),
        ('"é😀"', "é😀"),
        ('"\u2028"', "\u2028"),
    ],
)
def test_string_escapes_are_decoded(text: str, value: object) -> None:
    assert read(text) == value


def test_surrogate_pair_is_decoded_as_one_character() -> None:
    # Compared as numbers, because pytest-xdist cannot send reports with surrogates.
    assert list(map(ord, str(read(r'"\ud83d\ude00!"')))) == [0x1F600, ord("!")]


@pytest.mark.parametrize("text", [r'"\ud83d"', r'"\ude00\ud83d"', r'"\ud83dx"'])
def test_unpaired_surrogate_is_rejected(text: str) -> None:
    half = text[1:7] if text[1] == "\\" else ""
    message = f"{half} is half of a surrogate pair; write both, like \\ud83d\\ude00"
    assert complaints(f'{{"a":\n{text}}}') == [f"Test.json:2: $.a: {message}"]


def test_equal_duplicate_keys_are_one_property() -> None:
    assert read('{"a": {"b": 1, "c": 2}, "a": {"c": 2, "b": 1}}') == {"a": {"b": 1, "c": 2}}
    assert read('{"a": [1, {"b": 2}], "a": [1, {"b": 2}]}') == {"a": [1, {"b": 2}]}


def test_conflicting_duplicate_key_is_an_error() -> None:
    text = '{"versions": "0+",\n "type": "int8",\n "versions": "1+"}'
    message = "duplicate property 'versions' with different values; remove one (the first is on line 1)"
    assert complaints(text) == [f"Test.json:3: $.versions: {message}"]


def test_duplicate_keys_do_not_hide_later_problems() -> None:
    text = '{"a": 1, "a": 2,\n "b": {"c": 1, "c": "1"}}'
    assert complaints(text) == [
        "Test.json:1: $.a: duplicate property 'a' with different values; remove one (the first is on line 1)",
        "Test.json:2: $.b.c: duplicate property 'c' with different values; remove one (the first is on line 2)",
    ]


@pytest.mark.parametrize("other", ["true", "1.0", '"1"', "[1]"])
def test_duplicate_key_with_different_json_type_is_an_error(other: str) -> None:
    text = f'{{"default": 1, "default": {other}}}'
    message = "duplicate property 'default' with different values; remove one (the first is on line 1)"
    assert complaints(text) == [f"Test.json:1: $.default: {message}"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "1: $: the file is empty; a definition must be one JSON object"),
        ("// only\n/* comments */\n", "3: $: the file is empty; a definition must be one JSON object"),
        ("{}\n{}", "2: $: '{' follows the end of the definition; a file must contain one JSON object"),
        ("{},", "1: $: ',' follows the end of the definition; a file must contain one JSON object"),
        ("# old\n{}", "1: $: expected a JSON value, found '#'"),
        ("{\n# old\n}", "2: $: expected a property name in double quotes or '}', found '#'"),
        ("{'a': 1}", "1: $: expected a property name in double quotes or '}', found \"'\""),
        ("{a: 1}", "1: $: expected a property name in double quotes or '}', found 'a'"),
        ("{,}", "1: $: expected a property name in double quotes or '}', found ','"),
        ('{"a": 1,,}', "1: $: expected a property name in double quotes or '}', found ','"),
        ('{"a" 1}', "1: $: expected ':' after property 'a', found '1'"),
        ('{"a"', "1: $: expected ':' after property 'a', found the end of the file"),
        ('{"a":\n}', "2: $.a: expected a JSON value, found '}'"),
        ('{"a":', "1: $.a: expected a JSON value, found the end of the file"),
        ('{"a": 1 "b": 2}', f"1: $.a: {NO_COMMA}"),
        ('{"a": 1', "1: $: expected ',' or '}', found the end of the file"),
        ('{"a": [1, 2\n', "2: $.a: expected ',' or ']', found the end of the file"),
        ("[1 2]", f"1: $[0]: {NO_COMMA}"),
        ('{"a": "x",\n "b": 1  // two\n\n "c": 2}', f"2: $.b: {NO_COMMA}"),
        ('{"a": ["x"\n"y"]}', f"1: $.a[0]: {NO_COMMA}"),
        ("[{\n}\n{}]", f"2: $[0]: {NO_COMMA}"),
        ('{"a": 1\n2}', "2: $: expected ',' or '}', found '2'"),
        ("[,]", "1: $[0]: expected a JSON value, found ','"),
        ("[1,,]", "1: $[1]: expected a JSON value, found ','"),
        ("{", "1: $: expected a property name in double quotes or '}', found the end of the file"),
        ("[", "1: $[0]: expected a JSON value, found the end of the file"),
        ("{}\n/* never", "2: $: unterminated comment; end it with */"),
        ('{"a": /* never', "1: $: unterminated comment; end it with */"),
        ("{} /", "1: $: '/' follows the end of the definition; a file must contain one JSON object"),
        ('{"a": "never}', "1: $.a: string without closing quote, or with an unescaped control character"),
        ('{"a": "two\nlines"}', "1: $.a: string without closing quote, or with an unescaped control character"),
        ('{"a": "tab\there"}', "1: $.a: string without closing quote, or with an unescaped control character"),
        (
            '{"a": "ends in a backslash\\',
            "1: $.a: string without closing quote, or with an unescaped control character",
        ),
        (r'{"a": "\x41"}', r"1: $.a: unknown escape \x in a string"),
        (r'{"a": "\u12"}', r"1: $.a: unknown escape \u in a string"),
        (r'{"a\q": 1}', r"1: $: unknown escape \q in a string"),
        ("[01]", "1: $: expected ',' or ']', found '1'"),
        ("[1.]", "1: $: expected ',' or ']', found '.'"),
        ("[.5]", "1: $[0]: expected a JSON value, found '.'"),
        ("[+1]", "1: $[0]: expected a JSON value, found '+'"),
        ("[-]", "1: $[0]: expected a JSON value, found '-'"),
        ("[True]", "1: $[0]: expected a JSON value, found 'T'"),
        ("[nullify]", "1: $[0]: expected a JSON value, found 'n'"),
        ("[NaN]", "1: $[0]: expected a JSON value, found 'N'"),
    ],
)
def test_invalid_syntax_is_reported(text: str, complaint: str) -> None:
    assert complaints(text) == [f"Test.json:{complaint}"]


def test_nesting_deeper_than_100_levels_is_rejected() -> None:
    assert read("[" * 101 + "]" * 101) is not None
    path = "$" + "[0]" * 101
    assert complaints("[" * 102 + "]" * 102) == [f"Test.json:1: {path}: nested more than 100 levels deep"]
    assert complaints("[" * 100_000) == [f"Test.json:1: {path}: nested more than 100 levels deep"]


def test_number_of_more_than_100_digits_is_rejected() -> None:
    message = "a number of 5000 digits; the limit is 100"
    for number in ("1" * 5000, "-" + "1" * 5000):
        assert complaints(f'{{"apiKey":\n{number}}}') == [f"Test.json:2: $.apiKey: {message}"]
    assert read("1" * 100) == int("1" * 100)
    assert read("-" + "1" * 100) == -int("1" * 100)


def test_newline_in_path_is_escaped() -> None:
    assert complaints('{"a\\nb": [}') == [r"Test.json:1: $.a\nb[0]: expected a JSON value, found '}'"]


def places(node: Node) -> list[str]:
    """Return the location of a node and of all nodes inside it."""
    inside = node.value.values() if isinstance(node.value, dict) else node.value if isinstance(node.value, list) else ()
    return [f"{node.location.line} {node.location.path}", *(place for each in inside for place in places(each))]


def test_every_value_has_its_line_and_path() -> None:
    text = """// license
{
  "name": "A", /* two
  lines */ "type":
     "data",
  "fields": [
    {"name": "B"},

    { // with a comment
      "default": -1 }
  ]
}
"""
    problems = Problems()
    node = source.parse("Test.json", text, problems)
    assert node is not None
    assert places(node) == [
        "2 $",
        "3 $.name",
        "5 $.type",
        "6 $.fields",
        "7 $.fields[0]",
        "7 $.fields[0].name",
        "9 $.fields[1]",
        "10 $.fields[1].default",
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("null", "null"), ("true", "boolean"), ("{}", "object"), ("[]", "array"), ('"x"', "string"), ("1.5", "number")],
)
def test_node_kinds_are_json_types(text: str, kind: str) -> None:
    node = source.parse("Test.json", text, Problems())
    assert node is not None
    assert node.kind == kind


def test_invalid_utf8_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "Latin.json"
    path.write_bytes(b'{"about": "caf\xe9"}')
    problems = Problems()
    assert source.load(path, "specs/Latin.json", problems) is None
    assert list(map(str, problems.errors)) == [
        "specs/Latin.json:1: $: not UTF-8: invalid continuation byte at byte 14",
    ]


def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    problems = Problems()
    assert source.load(tmp_path, "specs/Folder.json", problems) is None
    assert list(map(str, problems.errors)) == ["specs/Folder.json:1: $: cannot be read: Is a directory"]


def test_every_kind_of_line_end_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "Mac.json"
    path.write_bytes(b'{ // one\r"a": 1,\r"a": 2}')
    problems = Problems()
    source.load(path, "Mac.json", problems)
    assert [str(problem.location) for problem in problems.errors] == ["Mac.json:3: $.a"]


def test_location_uses_the_given_file_name(tmp_path: Path) -> None:
    path = tmp_path / "Crlf.json"
    path.write_bytes(b'{\r\n"a": 1,\r\n"a": 2}')
    problems = Problems()
    source.load(path, "specs/Crlf.json", problems)
    message = "duplicate property 'a' with different values; remove one (the first is on line 2)"
    assert list(map(str, problems.errors)) == [f"specs/Crlf.json:3: $.a: {message}"]


BRACES = "the properties of an object need names and values; for a list write [ and ] instead of { and }"


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "data",\n "fields": {\n  {"name": "A"}\n]}',
        '{"type": "data",\n "fields": {  // of both\n  ["A"]\n}}',
        '{"type": "data",\n "fields": { ]}',
        '{"type": "data",\n "fields": {"broker"}}',
        '{"type": "data",\n "fields": {"broker",\n "controller"}}',
        '{"type": "data",\n "fields": {"broker"]}',
    ],
)
def test_braces_around_a_list_are_named_where_they_open(text: str) -> None:
    assert complaints(text) == [f"Test.json:2: $.fields: {BRACES}"]
