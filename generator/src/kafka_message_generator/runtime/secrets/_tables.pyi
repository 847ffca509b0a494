"""What the renderer prints into ``secrets/_tables.py`` of a package, for type checkers that look at these sources."""

OPEN_SETTINGS: frozenset[str]
SECRETS: tuple[tuple[str, str], ...]
SETTINGS: tuple[tuple[str, str, str, str | None], ...]
