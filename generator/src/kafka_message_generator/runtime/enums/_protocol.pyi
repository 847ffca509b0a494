"""Types of the generated module ``enums/_protocol.py``; enums in stubs need a member."""

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
