"""Types of the generated module ``enums/_tables.py``."""

from collections.abc import Mapping

from ._open import Number, Text

ENUMERATIONS: Mapping[str, type[Number] | type[Text]]
__all__ = ["ENUMERATIONS"]
