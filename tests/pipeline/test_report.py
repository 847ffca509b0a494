"""Text reports of limited width."""

from __future__ import annotations

import pytest

from kafka_messages_spark.jobs import JobReport

WIDE = """\
What
====

name        value
other name  one two three four five six seven eight

The end of a line of text, and more of it

a    number  text of some length
x         1  one two three four five
yyy      22  -
... and 3 more
"""
NARROW = """\
What
====

name        value
other name  one two
            three four
            five six
            seven eight

The end of a line of
text, and more of it

a    number
x         1
    text of some length
    one two three four
    five
yyy      22
... and 3 more
"""


def report() -> JobReport:
    made = JobReport("What")
    made.facts({"name": "value", "other name": "one two three four five six seven eight", "none": None})
    made.line("The end of a line of text, and more of it")
    made.table(["a", "number", "text of some length"], [["x", 1, "one two three four five"], ["yyy", 22, None]], 3)
    return made


def test_report_is_wrapped_to_the_width() -> None:
    assert report().text() == WIDE
    assert report().text(23) == NARROW


@pytest.mark.parametrize("width", [1, 2, 5, 10, 22, 40, 60])
def test_report_at_any_width_keeps_every_value(width: int) -> None:
    text = report().text(width)
    values = ("onetwothreefourfivesixseveneight", "Theendofalineoftext,andmoreofit", "onetwothreefourfive", "yyy", "22")
    letters = "".join(text.split())
    assert [value for value in values if value not in letters] == []
    assert max(map(len, text.splitlines())) <= width


def test_first_column_wider_than_the_line_is_wrapped() -> None:
    made = JobReport("Groups and their offsets")
    made.facts({"removed offsets": 12})
    made.table(["group", "lag"], [["a-group-with-a-long-name", 7], ["b", 8]], 1200)
    assert made.text(14) == """\
Groups and
their offsets
=============

removed
offsets
    12

group
a-group-with-a
-long-name
    lag 7
b
    lag 8
... and 1,200
more
"""


def test_direction_characters_are_escaped() -> None:
    made = JobReport("t")
    made.facts({"group": "gnp.\u202egpj\u2066\u2028\x1b[0m", "file": "\udcff.log"})
    assert made.text().splitlines()[-2:] == ["group  gnp.\\u202egpj\\u2066\\u2028\\x1b[0m", "file   \\udcff.log"]


def test_markdown_escapes_names() -> None:
    made = JobReport("a *b*")
    made.facts({"<b>name</b>": "![](http://example.com/x.png)"})
    made.table(["topic"], [["__consumer_offsets"], ["a_b|c"], ["\\| `x` ~y~ &lt;"]])
    assert made.markdown() == (
        "# a \\*b\\*\n\n"
        "|  |  |\n| --- | --- |\n| \\<b\\>name\\</b\\> | !\\[\\](http://example.com/x.png) |\n\n"
        "| topic |\n| --- |\n| \\__consumer_offsets |\n| a_b\\|c |\n| \\\\\\| \\`x\\` \\~y\\~ \\&lt; |\n"
    )
