"""What all enumerations can do: keep what has no name, and say what a member is."""

from __future__ import annotations

from enum import IntEnum, StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


def description_of(member: Number | Text) -> str:
    """What a member stands for, in our words; empty where nobody has said it."""
    from ._abouts import ABOUTS

    return ABOUTS.get(type(member).__name__, {}).get(member.name, "")


class Number(IntEnum):
    """Base of enumerations of numbers; a number that is not one of them is kept as ``UNKNOWN_<number>``."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, int):
            return None
        unknown = int.__new__(cls, value)
        unknown._name_ = f"{cls._prefix()}_{value:d}".replace("-", "MINUS_")
        unknown._value_ = value
        return unknown

    @classmethod
    def _prefix(cls) -> str:
        return "UNKNOWN"

    @property
    def is_known(self) -> bool:
        """Whether it is one of the enumeration's own members."""
        return self._name_ in type(self).__members__

    @property
    def description(self) -> str:
        """What it stands for; empty for a number without a name."""
        return description_of(self)


class Special(Number):
    """Base of enumerations of special numbers beside ordinary ones, which are kept as ``VALUE_<number>``."""

    @classmethod
    def _prefix(cls) -> str:
        return "VALUE"


class Text(StrEnum):
    """Base of enumerations of texts; a text that is not one of them is kept, with a name made of it."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = f"UNKNOWN_{''.join(each if each.isalnum() else '_' for each in value.upper())}"
        unknown._value_ = value
        return unknown

    @property
    def is_known(self) -> bool:
        """Whether it is one of the enumeration's own members."""
        return self._name_ in type(self).__members__

    @property
    def description(self) -> str:
        """What it stands for; empty for a text without a name."""
        return description_of(self)
