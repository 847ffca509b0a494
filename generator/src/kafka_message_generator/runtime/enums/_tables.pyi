"""Types of the generated module ``enums/_tables.py``."""

from collections.abc import Mapping

from ._open import IntegerEnum, StringEnum

ENUMERATIONS: Mapping[str, type[IntegerEnum] | type[StringEnum]]
__all__ = ["ENUMERATIONS"]
