"""What the renderer prints into ``protocol/_tables.py`` of a package, for type checkers that look at these sources.

Not copied: a package has the real module, with its own rows.
"""

Headers = tuple[tuple[int, int], ...]
APIS: tuple[tuple[int, str, str, int, int, int, int, int, int, bool, tuple[str, ...], Headers, Headers], ...]
RESTRICTIONS: tuple[tuple[str, int, int, str, int, str], ...]
