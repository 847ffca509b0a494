"""Types of the generated module ``history/_tables.py``."""

RELEASES: tuple[str, ...]
LISTENERS: tuple[tuple[str, ...], ...]
RUNS: dict[str, tuple[tuple[int, int, int, int], ...]]
OLDER: dict[str, tuple[int, int]]
UNSTABLE: dict[str, dict[int, int]]
LATE_FIELDS: dict[str, dict[str, int]]
ERROR_CODES: dict[str, tuple[int, int | None, int]]
KIPS: dict[str, dict[int, tuple[int, ...]]]
