"""Which files a source reads: paths, folders and patterns, on local disks and in object stores."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
from kafka_messages.segments.names import ending_of
from pyarrow import fs

from .._core.errors import invalid_argument
from .._core.options import Options

DEFAULT_GLOB = "*.{log,checkpoint}"
"""In a folder: segments and KRaft snapshots, and not the indexes and notes that lie beside them."""
FILE_OPTIONS = ("path", "paths", "pathGlobFilter", "recursiveFileLookup", "modifiedAfter", "modifiedBefore")
"""Of every source that reads files."""
_MAGIC = re.compile(r"[*?\[{]")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_NO_URI = re.compile(r"[\s{}\[\]<>|\\^`\"]")
"""What patterns and names have, and URIs may not."""
_HADOOP_FILE = re.compile(r"file:/(?!/)")
"""How Hadoop, and so Spark, writes URIs of local files."""
_SECRET = re.compile(r"(?<=://)[^/@]*@")


@dataclass(frozen=True)
class File:
    """A file that was found."""

    name: str
    """As it is shown: a path or URI, without credentials and without what stands behind ``?``."""
    path: str
    """In its file system."""
    root: str
    """The path or URI that led to it; it opens the file system."""
    size: int
    """Bytes."""
    modified: float
    """Seconds since 1970; 0 where the file system does not say."""

    @property
    def uri(self) -> str:
        """What opens it wherever there is no root: like ``root``, with credentials and all."""
        if not _SCHEME.match(self.root):
            return self.path
        secret = _SECRET.search(self.root)
        _, mark, query = self.root.partition("?")
        scheme, rest = quote(self.name, safe="/:@!$&'()*+,;=").split("://", 1)
        return f"{scheme}://{secret[0] if secret else ''}{rest}{mark}{query}"

    @property
    def ending(self) -> str | None:
        """``delete``, ``future`` or ``stray`` in a folder that Kafka deletes or moves, unless the user's path names it."""
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
    """Which files: paths or URIs of files, folders and patterns, and a pattern for the names of files."""

    paths: tuple[str, ...]
    glob: str | None = None
    default_glob: str = DEFAULT_GLOB
    recursive: bool = False
    modified_after: float | None = None
    modified_before: float | None = None

    @classmethod
    def parse(cls, given: Options, default_glob: str = DEFAULT_GLOB) -> FileSelection:
        """What the options ``FILE_OPTIONS`` of a source say."""
        return cls(
            paths=given.paths(),
            glob=given.text("pathGlobFilter"),
            default_glob=default_glob,
            recursive=given.flag("recursiveFileLookup", False),
            modified_after=given.time("modifiedAfter"),
            modified_before=given.time("modifiedBefore"),
        )

    def find(self, owner: str, *, lenient: bool = False) -> list[File]:
        """The files, each once, in the order of their names.

        A path is a file, a folder, or a pattern (``*``, ``?``, ``[ab]``, ``{a,b}``). The glob is for names of files,
        and without one folders give what ``default_glob`` says. Names that begin with ``_`` are no exception, unlike
        in Spark's own sources: Kafka's internal topics begin so. A path that does not exist is an error, but with
        ``lenient`` a pattern that matches nothing (yet) is not.
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
        """What lies in a folder, and with ``recursive`` below it."""

        def listed(place: str, *, recursive: bool) -> Iterator[Any]:
            # A folder that is deleted between its listing and this one has no files.
            selector = fs.FileSelector(place, recursive=recursive, allow_not_found=True)
            return _named(filesystem.get_file_info(selector), owner, root)

        if not self.recursive or not is_local(filesystem):
            yield from listed(folder, recursive=self.recursive)
            return
        # Each folder once, however many links lead to it, and links last: then names are without links, where they can.
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
        """What the paths are in their file systems."""
        return [SearchRoot(root, *open_filesystem(root, owner)[1:]) for root in self._roots]

    @property
    def _roots(self) -> list[str]:
        return [_HADOOP_FILE.sub("file:///", path) for path in self.paths]


@dataclass(frozen=True)
class SearchRoot:
    """A path or URI of the user: ``path`` in its file system, and ``front`` before that in the names of files."""

    root: str
    path: str
    front: str

    def fits(self, name: str) -> int:
        """How many characters of a file's name this place says; 0 if the file is none of its own."""
        plain = self.front + _MAGIC.split(self.path, maxsplit=1)[0]
        return len(plain) if name.startswith(plain) else 0


def locate(owner: str, places: Iterable[SearchRoot], name: str) -> tuple[str, str]:
    """The root that a file of this name is found by, and its path in that file system."""
    best = max(places, key=lambda place: place.fits(name))
    if not best.fits(name):
        raise invalid_argument(
            f"{owner}: the checkpoint names {name}, which is not below any of the paths of this stream"
        )
    return best.root, name[len(best.front) :]


def open_filesystem(root: str, owner: str | None = None) -> tuple[Any, str, str]:
    """The file system of a path or URI, the path in it, and what to put in front to show the names of its files.

    Raises PySparkValueError, which begins with ``owner``, if nothing knows such a URI.
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
        raise invalid_argument(f"{owner + ': ' if owner else ''}no file system opens {plain}: {reason}") from None
    front, found, _ = plain.partition(inner) if inner else (plain, "", "")
    return filesystem, inner, front if found else plain[: plain.index("://") + 3]


def open_file(root: str, path: str) -> Any:
    """A binary file to be read from any place, by a root of its file system and its path there. Raises OSError."""
    filesystem, _, _ = open_filesystem(root)
    return open(path, "rb", buffering=0) if is_local(filesystem) else filesystem.open_input_file(path)


class FileView:
    """A file from a byte on, under a name of ours. Closing it closes the file."""

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
    """A path or URI as the arguments ``source`` and ``filesystem`` of the readers of segments."""
    filesystem, inner, _ = open_filesystem(path)
    return {"source": inner, "filesystem": None if is_local(filesystem) else filesystem}


def base_name(path: str) -> str:
    """The last part of a path or URI, of this system or another."""
    return re.split(r"[/\\]", path)[-1]


def folder_name(path: str) -> str:
    """What is before the last part of a path or URI."""
    return re.split(r"[/\\](?=[^/\\]*$)", path)[0]


def is_local(filesystem: Any) -> bool:
    return isinstance(filesystem, fs.LocalFileSystem)


def is_path(place: str) -> bool:
    """Whether a path or URI is a path of this machine."""
    return not _SCHEME.match(place)


def display_path(path: str) -> str:
    """A path or URI without what nobody should read in an error: credentials, and all behind ``?``."""
    return _SECRET.sub("", path).partition("?")[0] if _SCHEME.match(path) else path


def matches(name: str, pattern: str) -> bool:
    """Whether a name is of a pattern; ``{a,b}`` is one of several."""
    return any(fnmatch.fnmatchcase(name, each) for each in _alternatives(pattern))


def _named(infos: Iterable[Any], owner: str, root: str) -> Iterator[Any]:
    """The same, if their names are text."""
    for info in infos:
        try:
            info.path  # noqa: B018  # pyarrow decodes it when it is asked for
        except UnicodeDecodeError as error:
            raise invalid_argument(f"{owner}: a name in {display_path(root)} is no UTF-8: {error.object!r}") from None
        yield info


def _seconds(info: Any) -> float:
    nanoseconds = info.mtime_ns
    return 0.0 if nanoseconds is None else nanoseconds / 1e9


def _alternatives(pattern: str) -> list[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [each for middle in found[1].split(",") for each in _alternatives(before + middle + after)]


def _expand(filesystem: Any, path: str) -> Iterable[Any]:
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
                for inside in filesystem.get_file_info(
                    fs.FileSelector(info.path, recursive=False, allow_not_found=True)
                )
                if matches(inside.base_name, part)
            ]
    return [info for info in infos if info.type in (fs.FileType.File, fs.FileType.Directory)]
