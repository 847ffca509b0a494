"""What the renderer prints into ``enums/_tables.py`` of a package, for type checkers that look at these sources."""

from collections.abc import Mapping

from ._open import Number, Text

ENUMERATIONS: Mapping[str, type[Number] | type[Text]]
__all__ = ["ENUMERATIONS"]
