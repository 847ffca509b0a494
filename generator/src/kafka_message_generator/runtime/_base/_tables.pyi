"""Types of the generated module ``_base/_tables.py``."""

MESSAGES: tuple[tuple[str, str, int | None, int, int, int, int, int, int, int, int, bool], ...]
