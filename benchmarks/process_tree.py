"""What a process and all below it used: CPU seconds and resident memory, read from /proc (Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(root: int, without: int | None = None) -> float:
    """User and system time of a process and its descendants, those that ended and were waited for included.

    ``without`` is a descendant that does not count, nor do its own.
    """
    return sum(map(_seconds, tree(root, without)))


def python_seconds(root: int) -> float:
    """The part of ``cpu_seconds`` that Python processes took, without those that the JVM began and saw end."""
    return sum(_seconds(pid) for pid in tree(root) if is_python(pid))


def is_python(pid: int) -> bool:
    """Whether a process that is still there runs Python, by its name."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").startswith(("python", "pyspark"))
    except OSError:
        return False


def resident_bytes(pid: int) -> int:
    """Resident memory of one process, 0 if it is gone."""
    fields = _stat(pid)
    return int(fields[21]) * _PAGE if fields[0] != "Z" else 0


def peak_bytes(pid: int) -> int:
    """The most resident memory that one process ever had, 0 if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


def tree(root: int, without: int | None = None) -> Iterator[int]:
    """A process and its descendants, but one of them and what is below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            children.setdefault(int(_stat(int(path.name))[1]), []).append(int(path.name))
    todo = [root]
    while todo:
        pid = todo.pop()
        if pid != without:
            yield pid
            todo += children.get(pid, [])


def _seconds(pid: int) -> float:
    return sum(map(int, _stat(pid)[11:15])) / _TICKS


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; zeros if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ["Z"] + ["0"] * 49
    return text.rpartition(")")[2].split()
