"""Search for files by paths, folders and glob patterns."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
from kafka_records.files import replace_file
from kafka_records.segments.names import ending_of
from pyarrow import fs

from .._core.errors import invalid_argument
from .._core.options import Options

# Segments and KRaft snapshots, without the index files in the same folder.
DEFAULT_GLOB = "*.{log,checkpoint}"
# Options of every file source.
FILE_OPTIONS = ("path", "paths", "pathGlobFilter", "recursiveFileLookup", "modifiedAfter", "modifiedBefore")
_MAGIC = re.compile(r"[*?\[{]")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
# Characters that occur in patterns and names but are invalid in URIs.
_NO_URI = re.compile(r"[\s{}\[\]<>|\\^`\"]")
# Hadoop's form of local URIs, which Spark uses too.
_HADOOP_FILE = re.compile(r"file:/(?!/)")
_SECRET = re.compile(r"(?<=://)[^/@]*@")


@dataclass(frozen=True)
class File:
    # Path or URI for display, without credentials and query.
    name: str
    path: str
    # The user's path or URI under which the file was found; determines the file system.
    root: str
    size: int
    # Seconds since the epoch; 0 if not reported.
    modified: float

    @property
    def uri(self) -> str:
        if not _SCHEME.match(self.root):
            return self.path
        secret = _SECRET.search(self.root)
        _, mark, query = self.root.partition("?")
        scheme, rest = quote(self.name, safe="/:@!$&'()*+,;=").split("://", 1)
        return f"{scheme}://{secret[0] if secret else ''}{rest}{mark}{query}"

    @property
    def ending(self) -> str | None:
        """Return the folder's suffix (``delete``, ``future`` or ``stray``), or None if absent or given in the user's path."""
        ending = ending_of(self.name)
        return None if ending is None or re.search(rf"-{ending}(?:[/\\]|$)", display_path(self.root)) else ending

    @property
    def folder(self) -> str:
        return self.name.rpartition("/")[0]

    @property
    def base_name(self) -> str:
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class FileSelection:
    paths: tuple[str, ...]
    glob: str | None = None
    default_glob: str = DEFAULT_GLOB
    recursive: bool = False
    modified_after: float | None = None
    modified_before: float | None = None

    @classmethod
    def parse(cls, given: Options, default_glob: str = DEFAULT_GLOB) -> FileSelection:
        return cls(
            paths=given.paths(),
            glob=given.text("pathGlobFilter"),
            default_glob=default_glob,
            recursive=given.flag("recursiveFileLookup", False),
            modified_after=given.time("modifiedAfter"),
            modified_before=given.time("modifiedBefore"),
        )

    def find(self, owner: str, *, lenient: bool = False) -> list[File]:
        """Return the matching files, each once, sorted by name.

        Patterns may contain ``*``, ``?``, ``[ab]`` and ``{a,b}``. Names that start with ``_`` are included. Raises
        PySparkValueError for an unsupported URI, a file name in invalid UTF-8, or a path that does not exist; with
        ``lenient``, a pattern may match nothing.
        """
        found: dict[str, File] = {}
        for root in self._roots:
            filesystem, inner, front = open_filesystem(root, owner)
            places = _expand(filesystem, inner)
            if not places and not (lenient and _MAGIC.search(inner)):
                raise invalid_argument(f"{owner}: [PATH_NOT_FOUND] Path does not exist: {display_path(root)}.")
            for place in places:
                is_file = place.type == fs.FileType.File
                inside = [place] if is_file else self._inside(filesystem, place.path, owner, root)
                pattern = self.default_glob if self.glob is None and not is_file else self.glob
                for info in inside:
                    if info.type == fs.FileType.File and (pattern is None or matches(info.base_name, pattern)):
                        file = File(front + info.path, info.path, root, info.size, _seconds(info))
                        if self._in_time(file):
                            found[file.name] = file
        return [found[name] for name in sorted(found)]

    def _inside(self, filesystem: Any, folder: str, owner: str, root: str) -> Iterator[Any]:

        def listed(place: str, *, recursive: bool) -> Iterator[Any]:
            # A folder may be deleted after it was listed.
            selector = fs.FileSelector(place, recursive=recursive, allow_not_found=True)
            return _named(filesystem.get_file_info(selector), owner, root)

        if not self.recursive or not is_local(filesystem):
            yield from listed(folder, recursive=self.recursive)
            return
        # Visit each folder once, and follow links last, so that names contain links only where necessary.
        folders, links, seen = [folder], list[str](), set[str]()
        while folders or links:
            place = folders.pop() if folders else links.pop()
            if (real := os.path.realpath(place)) in seen:
                continue
            seen.add(real)
            for info in listed(place, recursive=False):
                if info.type == fs.FileType.Directory:
                    (links if os.path.islink(info.path) else folders).append(info.path)
                yield info

    def _in_time(self, file: File) -> bool:
        after, before = self.modified_after, self.modified_before
        return (after is None or file.modified > after) and (before is None or file.modified < before)

    def places(self, owner: str) -> list[SearchRoot]:
        return [SearchRoot(root, *open_filesystem(root, owner)[1:]) for root in self._roots]

    @property
    def _roots(self) -> list[str]:
        return [_HADOOP_FILE.sub("file:///", path) for path in self.paths]


@dataclass(frozen=True)
class SearchRoot:
    """A path or URI of the options ``path`` and ``paths``; display names of its files begin with ``front``."""

    root: str
    path: str
    front: str

    def fits(self, name: str) -> int:
        plain = self.front + _MAGIC.split(self.path, maxsplit=1)[0]
        return len(plain) if name.startswith(plain) else 0


def locate(owner: str, places: Iterable[SearchRoot], name: str) -> tuple[str, str]:
    """Return the root and path of the file with a display name; raise PySparkValueError if no root contains it."""
    best = max(places, key=lambda place: place.fits(name))
    if not best.fits(name):
        raise invalid_argument(
            f"{owner}: the checkpoint lists {name}, which is not below any path of this stream; add the path, or use a "
            "new checkpoint"
        )
    return best.root, name[len(best.front) :]


def open_filesystem(root: str, owner: str | None = None) -> tuple[Any, str, str]:
    """Return the file system of a path or URI, the path in it, and the prefix of display names.

    Raises PySparkValueError for an unsupported URI.
    """
    if not _SCHEME.match(root):
        return fs.LocalFileSystem(), root, ""
    before, mark, query = root.partition("?")
    uri = _NO_URI.sub(lambda found: quote(found[0]), before) + mark + query
    plain = unquote(display_path(root))
    try:
        filesystem, inner = fs.FileSystem.from_uri(uri)
    except (pa.ArrowException, ValueError, OSError) as error:
        reason = str(error).replace(uri, plain)
        raise invalid_argument(
            f"{owner + ': ' if owner else ''}cannot open the file system of {plain}: {reason}"
        ) from None
    front, found, _ = plain.partition(inner) if inner else (plain, "", "")
    return filesystem, inner, front if found else plain[: plain.index("://") + 3]


def open_file(root: str, path: str) -> Any:
    filesystem, _, _ = open_filesystem(root)
    return open(path, "rb", buffering=0) if is_local(filesystem) else filesystem.open_input_file(path)


def write_file(filesystem: Any, path: str, data: bytes) -> None:
    """Write a whole file; a local one is renamed at the end, as object stores do by themselves. Raises OSError."""
    if is_local(filesystem):
        replace_file(path, [data])
        return
    with filesystem.open_output_stream(path) as file:
        file.write(data)


class FileView:
    def __init__(self, file: Any, name: str, base: int) -> None:
        self._file = file
        self._base = base
        self.name = name
        self.readinto = file.readinto
        self.close = file.close
        file.seek(base)

    def read(self, size: int = -1, /) -> bytes:
        data: bytes = self._file.read(size)
        return data

    def seekable(self) -> bool:
        return True

    def seek(self, position: int) -> None:
        self._file.seek(self._base + position)

    def size(self) -> int:
        return int(self._file.seek(0, 2))


def reader_arguments(path: str) -> dict[str, Any]:
    filesystem, inner, _ = open_filesystem(path)
    return {"source": inner, "filesystem": None if is_local(filesystem) else filesystem}


def base_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def folder_name(path: str) -> str:
    return re.split(r"[/\\](?=[^/\\]*$)", path)[0]


def is_local(filesystem: Any) -> bool:
    return isinstance(filesystem, fs.LocalFileSystem)


def is_path(place: str) -> bool:
    return not _SCHEME.match(place)


def display_path(path: str) -> str:
    return _SECRET.sub("", path).partition("?")[0] if _SCHEME.match(path) else path


def matches(name: str, pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(name, each) for each in alternatives(pattern))


def _named(infos: Iterable[Any], owner: str, root: str) -> Iterator[Any]:
    for info in infos:
        try:
            info.path  # noqa: B018  # pyarrow decodes the path on access
        except UnicodeDecodeError as error:
            raise invalid_argument(
                f"{owner}: a file name in {display_path(root)} is invalid UTF-8; rename {error.object!r}"
            ) from None
        yield info


def _seconds(info: Any) -> float:
    nanoseconds = info.mtime_ns
    return 0.0 if nanoseconds is None else nanoseconds / 1e9


def alternatives(pattern: str) -> list[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [each for middle in found[1].split(",") for each in alternatives(before + middle + after)]


def _expand(filesystem: Any, path: str) -> Iterable[Any]:
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
                for inside in filesystem.get_file_info(
                    fs.FileSelector(info.path, recursive=False, allow_not_found=True)
                )
                if matches(inside.base_name, part)
            ]
    return [info for info in infos if info.type in (fs.FileType.File, fs.FileType.Directory)]
