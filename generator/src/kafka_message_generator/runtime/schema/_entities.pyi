"""Types of the generated module ``schema/_entities.py``."""

ENTITIES: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]]
