"""What the generator prints: the messages of the package."""

MESSAGES: tuple[tuple[str, str, int | None, int, int, int, tuple[tuple[int, int], ...]], ...]
