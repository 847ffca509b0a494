"""Writes the files of a site into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_protocol_pages.package import PagesError

LIST = "assets/files.txt"


def write(folder: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Write changed files, delete stale ones, and return the paths of both.

    Raises PagesError, before writing, for a folder with files but without an earlier site.
    """
    known = folder / LIST
    if not known.exists() and folder.is_dir() and any(folder.iterdir()):
        raise PagesError(f"{folder}: not a generated site: it has files but no {LIST}; use an empty folder")
    before = set(known.read_text(encoding="utf-8").splitlines()) if known.exists() else set()
    wanted = {**files, LIST: "".join(f"{name}\n" for name in sorted(files))}
    changed = []
    for name, text in wanted.items():
        path, data = folder / name, encoded(text)
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            changed.append(name)
    for name in sorted(before - wanted.keys()):
        (folder / name).unlink(missing_ok=True)
        changed.append(name)
    return changed


def encoded(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()
