"""Types of the generated module ``enums/_protocol.py``; enums in stubs need a member."""

from ._open import IntegerEnum

class ApiKey(IntegerEnum):
    API_VERSIONS = 18

class ErrorCode(IntegerEnum):
    NONE = 0
    @property
    def is_retriable(self) -> bool: ...
    @property
    def needs_metadata(self) -> bool: ...

__all__ = ["ApiKey", "ErrorCode"]
