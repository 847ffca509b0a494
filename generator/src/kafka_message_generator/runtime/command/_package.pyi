"""What the generator prints: how the command is called, and which parts the package has."""

PROGRAM: str
PARTS: frozenset[str]
ERROR_FIELDS: tuple[str, ...]
