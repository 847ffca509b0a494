"""Types of the generated module ``secrets/_tables.py``."""

OPEN_SETTINGS: frozenset[str]
