"""Types of the generated module ``protocol/_tables.py``."""

Headers = tuple[tuple[int, int], ...]
APIS: tuple[tuple[int, str, str, int, int, int, int, int, int, bool, tuple[str, ...], Headers, Headers], ...]
RESTRICTIONS: tuple[tuple[str, int, int, str, int, str], ...]
