"""Damaged input: bytes, values of wrong types, and plan texts."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID


class Other:
    """A value that no field accepts."""

    def __repr__(self) -> str:
        return "Other()"


WRONG: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        127,
        128,
        -129,
        1 << 15,
        1 << 16,
        1 << 31,
        1 << 32,
        1 << 63,
        -(1 << 63),
        1 << 64,
        1 << 200,
    ),
    *(
        0.0,
        -0.0,
        1.5,
        float("nan"),
        float("inf"),
        "",
        "text",
        "x" * 300,
        "x" * 32767,
        "x" * 32768,
        "é",
        "é" * 16384,
        "\ud800",
        "\0",
    ),
    *(b"", b"bytes", bytes(200), bytearray(b"a"), memoryview(b"q"), UUID(int=0), UUID(int=7), UUID(int=(1 << 128) - 1)),
    *(
        (),
        (1,),
        (None,),
        {},
        {1: 2},
        {1},
        range(2),
        Other(),
        Other,
        object,
        type("Int", (int,), {})(5),
        type("Str", (str,), {})("s"),
    ),
)
"""Values for fields of other types. Lists are created per use, because objects keep them."""


def buffer_of(rnd: random.Random, data: bytes) -> Any:
    """Return the data as bytes, bytearray or memoryview."""
    return rnd.choice((bytes, bytes, bytes, bytes, bytearray, memoryview))(data)


def value(rnd: random.Random, others: list[Any]) -> Any:
    """Return a wrong value, or one of another field; ``others`` are values of the same message."""
    match rnd.randrange(8):
        case 0 | 1:
            return rnd.choice(others)
        case 2:
            return [rnd.choice(WRONG) for _ in range(rnd.randrange(3))]
        case 3:
            return [rnd.choice(others) for _ in range(rnd.randrange(3))]
        case _:
            return rnd.choice(WRONG)


def unknown_fields(rnd: random.Random, raw: Any) -> Any:
    """Return unknown tagged fields: too many, repeated, out of order, or of wrong types."""
    tags = [
        rnd.choice((rnd.randrange(50), rnd.getrandbits(32), rnd.choice((-1, 1 << 32, "5", None, True))))
        for _ in range(40)
    ]
    count = rnd.choice((1, 1, 2, 3, 31, 32, 33, 40))
    fields = [
        raw(tag, rnd.choice((b"", b"x", bytes(200), None) if rnd.random() < 0.1 else (b"", b"xy")))
        for tag in tags[:count]
    ]
    if rnd.random() < 0.05:
        fields.append(rnd.choice(WRONG))
    return rnd.choice((tuple, tuple, tuple, list))(fields)


WORDS = (
    *(
        "c",
        "n",
        "e",
        "?",
        "~",
        "[",
        "{",
        "@",
        ":",
        "=",
        "!",
        "-",
        "^",
        ";",
        ";;",
        "&",
        " ",
        "\n",
        "\n:",
        ",",
        "+",
        "/",
        "%",
        "0",
        "1",
    ),
    *(
        "9",
        "99999999999999999999",
        "2147483647",
        "4294967295",
        "32767",
        "t",
        "i",
        "q",
        "u",
        "s",
        "y",
        "v16",
        "z64",
        "v32",
        ":q",
        ":b",
    ),
    *("=~", "=-1", "=1", "=x%00y", "=\u00e9", "\u00e9", "\0", "@0", "@1", "@2"),
)


def plan_text(rnd: random.Random, text: str) -> str:
    """Return a changed plan, mostly one that the grammar may still accept."""
    for _ in range(rnd.choice((1, 1, 1, 2, 4))):
        lines = text.split("\n")
        line = rnd.randrange(len(lines))
        words = lines[line].split(" ")
        word = rnd.randrange(len(words))
        match rnd.randrange(10):
            case 0:
                lines[line], other = lines[rnd.randrange(len(lines))], line
                if rnd.random() < 0.3:
                    del lines[other]
            case 1:
                rnd.shuffle(words)
                lines[line] = " ".join(words)
            case 2:
                del words[word]
                lines[line] = " ".join(words)
            case 3:
                words.insert(word, rnd.choice(rnd.choice(lines).split(" ")))
                lines[line] = " ".join(words)
            case 4:
                words[word] += rnd.choice(WORDS)
                lines[line] = " ".join(words)
            case 5:
                words[word] = rnd.choice(WORDS)
                lines[line] = " ".join(words)
            case 6 if any(map(str.isdigit, words[word])):
                places = [at for at, letter in enumerate(words[word]) if letter.isdigit()]
                at = rnd.choice(places)
                words[word] = words[word][:at] + str(rnd.randrange(12)) + words[word][at + 1 :]
                lines[line] = " ".join(words)
            case 7 if ";" not in lines[line] and lines[line][:1] != ":":
                lines[line] += rnd.choice((" ;", " ; 7=0", " ;;", " &"))
            case _:
                whole = lines[line]
                at = rnd.randrange(len(whole) + 1)
                lines[line] = whole[:at] + rnd.choice(WORDS) + whole[at + rnd.randrange(3) :]
        text = "\n".join(lines)
    return text
