"""Types of the generated module ``internal_topics/_tables.py``."""

RECORD_TYPES: tuple[tuple[str, int, str | None, str | None], ...]
LOGS: dict[str, str]
