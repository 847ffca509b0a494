"""Types of the generated module ``_base/_tables.py``."""

Headers = tuple[tuple[int, int], ...]

MESSAGES: tuple[tuple[str, str, int | None, int, int, int, int, int, int, int, int, bool, Headers], ...]
