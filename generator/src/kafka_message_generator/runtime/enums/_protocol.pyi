"""What the renderer prints into ``enums/_protocol.py`` of a package, for type checkers that look at these sources.

Not copied: a package has the real module, with its own members (an enum of a stub needs a member: one that every Kafka
has).
"""

from ._open import Number

class ApiKey(Number):
    API_VERSIONS = 18

class ErrorCode(Number):
    NONE = 0
    @property
    def is_retriable(self) -> bool: ...
    @property
    def needs_metadata(self) -> bool: ...

__all__ = ["ApiKey", "ErrorCode"]
