"""What the renderer prints into ``internal_topics/_tables.py`` of a package, for type checkers that look at these sources."""

RECORD_TYPES: tuple[tuple[str, int, str | None, str | None], ...]
LOGS: dict[str, str]
