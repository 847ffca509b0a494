"""Strategies for Hypothesis: messages of a class at a version, their bytes, and bytes with something wrong.

Everything is drawn through Hypothesis, so what fails is shrunk, and is found again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from .._base.listing import all_messages
from .._base.message import Message, checked_version
from .damage import damaged
from .draw import MIXED, Draw

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
    known = next((each for each in all_messages() if each.name == message.NAME), None)
    if known is not None and known.offered_versions and not older:
        return st.integers(known.offered_versions.lowest, known.offered_versions.highest)
    return st.integers(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION)


def messages(message: type[M], version: int, *, unknown_tagged_fields: bool = True) -> st.SearchStrategy[M]:
    """Messages that can be written at a version.

    Numbers are of the whole range of their type, texts of all lengths that matter and of any characters. What may be null at
    this version sometimes is, fields often keep their defaults, and those that the version does not have always do. Keyed
    collections now and then have a key twice, as brokers send them. With ``unknown_tagged_fields`` structs may have tagged
    fields that the definition does not know, where the version has a place for them. Raises UnsupportedVersionError.
    """
    version = checked_version(message, version)
    chances = MIXED if unknown_tagged_fields else replace(MIXED, unknown=0)
    # Not a source of true random numbers: each of them is drawn by Hypothesis, which can then make it smaller.
    return st.randoms(use_true_random=False).map(lambda source: Draw(message, version, source, chances).message())


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
