"""What the commands of the Python clients share: records, and the end of a task."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping

NAME = "conformance"
"""Topic, group and transactional id."""
RECORDS: list[tuple[bytes, bytes | None]] = [
    *((b"k0", b"v0"), (b"k1", b"v1"), (b"k2", None), (b"k3", b""), (b"k4", b"v4")),
]
COUNT = 3
"""Records to read."""
ROUNDS = 3
"""Rounds of a transaction, each with ``PLACES``."""
PLACES = (0, 0, 1, 1)
"""Partitions of the records of a round."""
ATTEMPTS = 5


def do(tasks: Mapping[str, Callable[[str], object]]) -> None:
    """Do the task that the arguments name; exit with 77 if the client lacks it, and with 1 if it fails."""
    task, address = sys.argv[1:]
    if task not in tasks:
        print(f"this client lacks the task {task}")
        sys.exit(77)
    try:
        tasks[task](address)
    except Exception as error:  # of any client; the status is 1
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
        sys.exit(1)
