"""Reports in lines of a width: nothing is cut that is not cut without one."""

from __future__ import annotations

import pytest
from kafka_messages_spark.jobs._report import Report

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


def report() -> Report:
    made = Report("What")
    made.facts({"name": "value", "other name": "one two three four five six seven eight", "none": None})
    made.line("The end of a line of text, and more of it")
    made.table(["a", "number", "text of some length"], [["x", 1, "one two three four five"], ["yyy", 22, None]], 3)
    return made


def test_width() -> None:
    """Without a width each row is a line; with one, columns without room are below, and those that say nothing are not."""
    assert report().text() == WIDE
    assert report().text(23) == NARROW


@pytest.mark.parametrize("width", [1, 2, 5, 10, 22, 40, 60])
def test_any_width(width: int) -> None:
    """However narrow, every letter is there; lines are no longer than that, or than names and a first column are."""
    text = report().text(width)
    values = ("onetwothreefourfivesixseveneight", "Theendofalineoftext,andmoreofit", "onetwothreefourfive", "yyy", "22")
    letters = "".join(text.split())
    assert [value for value in values if value not in letters] == []
    if width >= len("other name  seven") + 5:
        assert max(map(len, text.splitlines())) <= width
