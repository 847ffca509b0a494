"""Strategies for Hypothesis: messages of a class at a version, their bytes, and bytes with something wrong.

Everything is drawn through Hypothesis, so what fails is shrunk, and is found again.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TypeVar

from .._base.listing import all_messages
from .._base.message import Message, check_class, checked_version
from .._core.structs import name_of
from ..schema.facts import FieldFacts
from .damage import damaged
from .draw import MIXED, Chances, Draw

try:
    from hypothesis import strategies as st
except ImportError as error:
    _TEXT = "the strategies of {} need the package hypothesis, which is not installed; the extra `testing` brings it"
    raise ImportError(_TEXT.format(__package__)) from error

M = TypeVar("M", bound=Message)


def versions(message: type[Message], *, older: bool = False) -> st.SearchStrategy[int]:
    """The versions that the release of this package offers of a message; with ``older`` all that can be read and written.

    Of a message that only older releases have they are the same.
    """
    check_class(message)
    known = next((each for each in all_messages() if each.name == name_of(message)), None)
    if known is not None and known.supported_versions and not older:
        return st.integers(known.supported_versions.lowest, known.supported_versions.highest)
    return st.integers(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION)


def messages(message: type[M], version: int, *, unknown_tagged_fields: bool = True) -> st.SearchStrategy[M]:
    """Messages that can be written at a version.

    Numbers are of the whole range of their type, texts of all lengths that matter and of any characters. What may be null at
    this version sometimes is, fields often keep their defaults, and those that the version does not have always do. Keyed
    collections now and then have a key twice, as brokers send them. With ``unknown_tagged_fields`` structs may have tagged
    fields that the definition does not know, where the version has a place for them. Raises UnsupportedVersionError.
    """
    check_class(message)
    version = checked_version(message, version)
    chances = MIXED if unknown_tagged_fields else replace(MIXED, unknown=0)
    return _drawn(message, version, chances)


def encodings(message: type[Message], version: int, *, unknown_tagged_fields: bool = True) -> st.SearchStrategy[bytes]:
    """The bytes of such messages. Raises UnsupportedVersionError."""
    return messages(message, version, unknown_tagged_fields=unknown_tagged_fields).map(lambda each: each.write(version))


def damaged_bytes(message: type[Message], version: int) -> st.SearchStrategy[bytes]:
    """The same with one to six things wrong: bytes changed, cut, doubled, or with a forged length or count among them.

    Now and then that is a message again. Reading anything else raises DecodeError, within bounded time and memory. Raises
    UnsupportedVersionError.
    """
    source = st.randoms(use_true_random=False)
    return st.tuples(source, encodings(message, version)).map(lambda drawn: damaged(*drawn))


@st.composite
def _drawn(draw: st.DrawFn, message: type[M], version: int, chances: Chances) -> M:
    """A message of which Hypothesis knows what belongs to which field."""
    # Not a source of true random numbers: each of them is drawn by Hypothesis, which can then make it smaller.
    return _DrawnByFields(message, version, draw(st.randoms(use_true_random=False)), chances, draw).message()


class _DrawnByFields(Draw[M]):
    """Draws a field within a strategy of its own, so that Hypothesis can leave out a field without a change to the others."""

    def __init__(self, message: type[M], version: int, source: Random, chances: Chances, draw: st.DrawFn) -> None:
        super().__init__(message, version, source, chances)
        self.draw = draw

    def part(self, field: FieldFacts) -> object:
        """A value of a field."""
        return self.draw(st.none().map(lambda _: self.value(field)))
