"""CPU seconds and peak memory of a process tree (Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(root: int, without: int | None = None) -> float:
    """Return user and system time of a process and its descendants, except the subtree of ``without``."""
    return sum(map(_seconds, tree(root, without)))


def python_seconds(root: int) -> float:
    """Return ``cpu_seconds`` of Python processes, without those reaped by the JVM."""
    return sum(_seconds(pid) for pid in tree(root) if is_python(pid))


def is_python(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").startswith(("python", "pyspark"))
    except OSError:
        return False


def peak_bytes(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


def tree(root: int, without: int | None = None) -> Iterator[int]:
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
    # Starts at the state; all zeros if the process has ended.
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ["Z"] + ["0"] * 49
    return text.rpartition(")")[2].split()
