"""What the renderer prints into ``schema/_entities.py`` of a package, for type checkers that look at these sources."""

ENTITIES: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]]
