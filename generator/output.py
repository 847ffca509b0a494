"""Writes a rendered package, or compares it with what is there; both see the same files."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from generator.render.package import MANIFEST, Request, inputs_hash


def is_current(request: Request) -> bool:
    """Whether the manifest proves that these inputs gave exactly the files that are there."""
    path = request.output / MANIFEST
    if not path.exists():
        return False
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        hashes: dict[str, str] = manifest["files"]
    except (ValueError, KeyError, TypeError):
        return False
    if manifest.get("inputs") != inputs_hash(request):
        return False
    present = {file.relative_to(request.output).as_posix(): file for file in _files(request.output)}
    present.pop(MANIFEST, None)
    return present.keys() == hashes.keys() and all(
        hashlib.sha256(file.read_bytes()).hexdigest() == hashes[name] for name, file in present.items()
    )


def write(output: Path, files: dict[str, str]) -> list[str]:
    """Make the folder hold exactly these files; returns the paths that changed. Equal files are not touched."""
    changed = []
    for file in _files(output):
        name = file.relative_to(output).as_posix()
        if name not in files:
            file.unlink()
            changed.append(name)
    for name, text in sorted(files.items()):
        path = output / name
        if not path.exists() or path.read_bytes() != text.encode():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            changed.append(name)
    return sorted(changed)


def difference(output: Path, files: dict[str, str]) -> Iterator[str]:
    """The unified diff from what is there to these files, line by line; nothing when they agree."""
    present = {file.relative_to(output).as_posix(): file for file in _files(output)}
    for name in sorted({*present, *files}):
        old = present[name].read_text(encoding="utf-8") if name in present else ""
        new = files.get(name, "")
        if old != new or (name in present) != (name in files):
            yield from difflib.unified_diff(
                old.splitlines(keepends=True), new.splitlines(keepends=True), f"{name} (on disk)", f"{name} (generated)"
            )


def _files(output: Path) -> list[Path]:
    """Files of a generated folder; what Python and build tools leave there is not ours."""
    ignored = ("__pycache__", ".egg-info", ".mypy_cache", "build")
    return sorted(
        path
        for path in output.rglob("*")
        if path.is_file() and not any(part.endswith(ignored) for part in path.relative_to(output).parts)
    )
