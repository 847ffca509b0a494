"""What the renderer prints into ``enums/_abouts.py`` of a package, for type checkers that look at these sources."""

ABOUTS: dict[str, dict[str, str]]
