"""What the renderer prints into ``secrets/_tables.py`` of a package, for type checkers that look at these sources."""

OPEN_SETTINGS: frozenset[str]
