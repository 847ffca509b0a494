"""Enumerations that accept unknown values."""

from __future__ import annotations

from enum import Enum, IntEnum, StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


class _Open(Enum):
    @property
    def is_known(self) -> bool:
        """True if Kafka declares the value."""
        return self._name_ in type(self).__members__

    @property
    def description(self) -> str:
        """Description; empty for an unknown value."""
        from ._abouts import ABOUTS

        return ABOUTS.get(type(self).__name__, {}).get(self._name_, "")


class IntegerEnum(_Open, IntEnum):
    """Base of enumerations of numbers. An unknown number becomes ``UNKNOWN_<number>``."""

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


class Special(IntegerEnum):
    """Base of enumerations of the special values of a number field; other numbers become ``VALUE_<number>``."""

    @classmethod
    def _prefix(cls) -> str:
        return "VALUE"


class StringEnum(_Open, StrEnum):
    """Base of enumerations of strings; unknown strings become members, too."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = f"UNKNOWN_{''.join(each if each.isalnum() else '_' for each in value.upper())}"
        unknown._value_ = value
        return unknown
