"""Which files a source reads: paths, folders and patterns, on local disks and in object stores."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyarrow import fs

from .._errors import wrong

DEFAULT_GLOB = "*.{log,checkpoint}"
"""In a folder: segments and KRaft snapshots, and not the indexes and notes that lie beside them."""
_MAGIC = re.compile(r"[*?\[{]")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")


@dataclass(frozen=True)
class File:
    """A file as it is named to readers, and its size in bytes."""

    path: str
    size: int


def open_filesystem(path: str) -> tuple[Any, str, str]:
    """The file system of a path or URI, the path in it, and what to put in front to name its files again."""
    if not _SCHEME.match(path):
        return fs.LocalFileSystem(), path, ""
    filesystem, inner = fs.FileSystem.from_uri(path)
    front, found, _ = path.partition(inner) if inner else (path, "", "")
    return filesystem, inner, front if found else path[: path.index("://") + 3]


def list_files(owner: str, paths: Iterable[str], glob: str | None, recursive: bool) -> list[File]:
    """The files that some paths mean, each once, in the order of their names.

    A path is a file, a folder, or a pattern (``*``, ``?``, ``[ab]``, ``{a,b}``). The glob is for names of files, and
    without one folders give what ``DEFAULT_GLOB`` says. Names that begin with ``_`` are no exception, unlike in
    Spark's own sources: Kafka's internal topics begin so.
    """
    found: dict[str, int] = {}
    for path in paths:
        filesystem, inner, front = open_filesystem(path)
        places = _expand(filesystem, inner)
        if not places:
            raise wrong(f"{owner}: [PATH_NOT_FOUND] Path does not exist: {path}.")
        for place in places:
            if place.type == fs.FileType.File:
                inside, pattern = [place], glob
            else:
                inside = filesystem.get_file_info(fs.FileSelector(place.path, recursive=recursive))
                pattern = DEFAULT_GLOB if glob is None else glob
            for info in inside:
                if info.type == fs.FileType.File and (pattern is None or matches(info.base_name, pattern)):
                    found[front + info.path] = info.size
    return [File(path, size) for path, size in sorted(found.items())]


def matches(name: str, pattern: str) -> bool:
    """Whether a name is of a pattern; ``{a,b}`` is one of several."""
    return any(fnmatch.fnmatchcase(name, each) for each in _alternatives(pattern))


def _alternatives(pattern: str) -> list[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [each for middle in found[1].split(",") for each in _alternatives(before + middle + after)]


def _expand(filesystem: Any, path: str) -> list[Any]:
    """The files and folders that a path means; a pattern is for one level of folders at a time."""
    if not _MAGIC.search(path) or filesystem.get_file_info(path).type != fs.FileType.NotFound:
        infos = [filesystem.get_file_info(path)]
    else:
        parts = path.split("/")
        first = next(i for i, part in enumerate(parts) if _MAGIC.search(part))
        start = "/".join(parts[:first]) or ("/" if path.startswith("/") else ".")
        infos = [filesystem.get_file_info(start)]
        for part in parts[first:]:
            infos = [
                inside
                for info in infos
                if info.type == fs.FileType.Directory
                for inside in filesystem.get_file_info(fs.FileSelector(info.path, recursive=False))
                if matches(inside.base_name, part)
            ]
    return [info for info in infos if info.type in (fs.FileType.File, fs.FileType.Directory)]
