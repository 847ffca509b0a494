"""Types of the generated module ``enums/_abouts.py``."""

ABOUTS: dict[str, dict[str, str]]
