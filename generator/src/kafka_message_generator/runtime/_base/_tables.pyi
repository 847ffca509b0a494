"""What the renderer prints into ``_base/_tables.py`` of a package, for type checkers that look at these sources."""

MESSAGES: tuple[tuple[str, str, int | None, int, int, int, int, int, int, int, int, bool], ...]
