"""Hypothesis strategies for versions, messages, and valid or damaged bytes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TypeVar

from .._base.listing import all_messages
from .._base.message import Message, check_class, checked_version
from .._core.structs import name_of
from ..schema.descriptors import FieldDescriptor
from .damage import damaged
from .message_generator import MIXED, Chances, MessageGenerator

try:
    from hypothesis import strategies as st
except ImportError as error:
    _TEXT = "the strategies of {} require the package hypothesis, which is not installed; install the extra `testing`"
    raise ImportError(_TEXT.format(__package__)) from error

M = TypeVar("M", bound=Message)


def versions(message: type[Message], *, older: bool = False) -> st.SearchStrategy[int]:
    """Generate supported versions of a message; with ``older`` or for a removed message, all valid versions."""
    check_class(message)
    known = next((each for each in all_messages() if each.name == name_of(message)), None)
    if known is not None and known.supported_versions and not older:
        return st.integers(known.supported_versions.lowest, known.supported_versions.highest)
    return st.integers(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION)


def messages(message: type[M], version: int, *, unknown_tagged_fields: bool = True) -> st.SearchStrategy[M]:
    """Generate messages that can be written at a version, with values from the whole range of the field types.

    Nulls, defaults and repeated keys occur; ``unknown_tagged_fields`` adds unknown tagged fields. Fields that the
    version lacks keep their defaults. Raises UnsupportedVersionError.
    """
    check_class(message)
    version = checked_version(message, version)
    chances = MIXED if unknown_tagged_fields else replace(MIXED, unknown=0)
    return _generated_message(message, version, chances)


def encodings(message: type[Message], version: int, *, unknown_tagged_fields: bool = True) -> st.SearchStrategy[bytes]:
    """Generate messages as ``messages`` does, encoded at ``version``. Raises UnsupportedVersionError."""
    return messages(message, version, unknown_tagged_fields=unknown_tagged_fields).map(lambda each: each.write(version))


def damaged_bytes(message: type[Message], version: int) -> st.SearchStrategy[bytes]:
    """Generate encoded messages with one to six random changes, as ``damaged`` makes them.

    Reading the bytes returns a message or raises DecodeError. Raises UnsupportedVersionError.
    """
    source = st.randoms(use_true_random=False)
    return st.tuples(source, encodings(message, version)).map(lambda pair: damaged(*pair))


@st.composite
def _generated_message(draw: st.DrawFn, message: type[M], version: int, chances: Chances) -> M:
    # Hypothesis draws each number, so that it can shrink the message.
    return _ShrinkableGenerator(message, version, draw(st.randoms(use_true_random=False)), chances, draw).message()


class _ShrinkableGenerator(MessageGenerator[M]):
    def __init__(self, message: type[M], version: int, source: Random, chances: Chances, draw: st.DrawFn) -> None:
        super().__init__(message, version, source, chances)
        self.draw = draw

    def part(self, field: FieldDescriptor) -> object:
        return self.draw(st.none().map(lambda _: self.value(field)))
