"""What the renderer prints into ``protocol/_tables.py`` of a package, for type checkers that look at these sources.

Not copied: a package has the real module, with its own members and rows (an enum
of a stub needs a member: one that every Kafka has).
"""

from enum import IntEnum

class ApiKey(IntEnum):
    API_VERSIONS = 18

class ErrorCode(IntEnum):
    NONE = 0

RETRIABLE: frozenset[int]

Headers = tuple[tuple[int, int], ...]
APIS: tuple[tuple[int, str, str, int, int, int, int, bool, tuple[str, ...], Headers, Headers], ...]
