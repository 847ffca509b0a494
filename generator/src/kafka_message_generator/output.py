"""Writing of a generated package, and comparison with the files on disk."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Container, Iterator
from pathlib import Path, PurePath
from typing import Any

from kafka_message_generator.files import replace_file
from kafka_message_generator.render.identity import IdentityError
from kafka_message_generator.render.package import MANIFEST, PackageRequest, inputs_hash, tools
from kafka_message_generator.spec.settings import Settings
from kafka_message_generator.spec.source import Location, Problems

# Endings of files in a package that Python or a type checker imports.
_MODULES = (".py", ".pyc", ".pyd", ".pyi", ".so")


def read_manifest(output: Path) -> dict[str, Any]:
    """Return the manifest of a package; empty if the folder is missing or empty.

    Raises IdentityError for a damaged manifest, and for a folder with other files only.
    """
    path = output / MANIFEST
    found: Any = None
    try:
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        if not output.exists() or not any(output.iterdir()):
            return {}
        what = f"{output} contains files but no {MANIFEST}, so it is not a generated package"
        raise IdentityError(f"{what}; restore {MANIFEST}, or choose another folder") from None
    files = found.get("files") if isinstance(found, dict) else None
    if isinstance(files, dict) and all(map(_is_entry, (*files, found.get("package")), (*files.values(), ""))):
        manifest: dict[str, Any] = found
        return manifest
    what = f"{path} is damaged, so the generated files are unknown"
    raise IdentityError(f"{what}; restore it, for example from version control, or choose another folder")


def _is_entry(name: object, digest: object) -> bool:
    """Return whether ``name`` is a path below a folder, and ``digest`` a text."""
    is_text = isinstance(name, str) and isinstance(digest, str)
    return is_text and all(part.strip(".") and re.fullmatch(r"[\w.-]+", part) for part in str(name).split("/"))


def is_current(request: PackageRequest) -> bool:
    """Return whether the manifest matches the inputs, the tools and its files on disk. Raises IdentityError."""
    manifest = read_manifest(request.output)
    try:
        if not manifest or (manifest.get("inputs"), manifest.get("tools")) != (inputs_hash(request), tools()):
            return False
    except OSError:
        return False  # loading reports unreadable inputs
    return all(_digest(request.output / name) == digest for name, digest in manifest["files"].items())


def _data(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _digest(path: Path) -> str | None:
    data = _data(path)
    return None if data is None else hashlib.sha256(data).hexdigest()


def check_owner(request: PackageRequest, manifest: dict[str, Any], settings: Settings, problems: Problems) -> None:
    package = request.package or settings.import_name
    owner = manifest.get("package", package)
    if package is None or owner == package:
        return
    place = Location("command line", 1, "--package") if request.package else settings.places["import-name"]
    what = f"{request.output} holds the package {owner}, not {package}"
    problems.error(place, f"{what}; choose another folder, or remove this one first")


def tools_of(manifest: dict[str, Any]) -> dict[str, str]:
    """Return the tool versions in the manifest, or the current versions if the manifest has none."""
    found = manifest.get("tools")
    return {name: str(version) for name, version in found.items()} if isinstance(found, dict) else tools()


def other_tools(output: Path, manifest: dict[str, Any]) -> str | None:
    """Return a note if other tool versions generated the package, else None."""
    used = tools_of(manifest)
    if used == tools():
        return None
    before, now = (", ".join(f"{name} {version}" for name, version in each.items()) for each in (used, tools()))
    return f"{output} was generated with {before}, but {now} are installed; this may cause differences"


def write(output: Path, manifest: dict[str, Any], files: dict[str, str], tell: Callable[[str], None] = print) -> int:
    """Delete files that only the earlier manifest lists, write changed files, and return the number of changes.

    Deletions, and listed files that are not as generated, are reported to ``tell``; of the latter only those in
    ``files`` are replaced. Raises IdentityError, before any change, if a file would replace one that is not listed, or
    would be written through a symbolic link.
    """
    listed = manifest.get("files", {})
    there = {name: _data(output / name) for name in files}
    new = {name: text.encode() for name, text in files.items()}
    changed = sorted(name for name, data in new.items() if there[name] != data)
    if links := dict.fromkeys(filter(None, (link_to(output, name) for name in changed))):
        what = "a symbolic link, through which a file would be written; replace it by what it leads to"
        raise IdentityError("\n".join(f"{path}: {what}" for path in links))
    if foreign := [output / name for name in changed if there[name] is not None and name not in {*listed, MANIFEST}]:
        what = f"not listed in {MANIFEST}, and would be overwritten; move it, or choose another folder"
        raise IdentityError("\n".join(f"{path}: {what}" for path in foreign))
    deleted = sum(_delete(output, name, listed[name], tell) for name in sorted(listed.keys() - files.keys()))
    for name in sorted(changed, key=lambda name: name != MANIFEST):  # of an interrupted run, all is listed
        path = output / name
        if name in listed and _digest(path) not in (None, listed[name]):
            tell(f"replaced {path}, which was not as generated")
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, [new[name]])
    return deleted + len(changed)


def _delete(output: Path, name: str, digest: str, tell: Callable[[str], None]) -> int:
    """Delete a listed file and its copy in setuptools' build folder, which the next wheel would contain."""
    if os.path.lexists(output / name) and not (is_own_file(output, name) and _digest(output / name) == digest):
        tell(f"kept {output / name}, which is not as generated")
        return 0
    copies = [f"build/lib/{name.removeprefix('src/')}"] if name.startswith("src/") else []
    found = [output / each for each in (name, *copies) if is_own_file(output, each) and (output / each).exists()]
    for path in found:
        path.unlink()
        tell(f"deleted {path}")
        _remove_empty(path.parent, output)
    return len(found)


def is_own_file(folder: Path, name: str) -> bool:
    """Return whether a path leads into a folder without symbolic links, and to no folder."""
    if "\0" in name or PurePath(name).as_posix() != name or os.path.isdir(folder / name):
        return False
    return Path(os.path.realpath(folder / name)) == Path(f"{os.path.realpath(folder)}/{name}")


def link_to(folder: Path, name: str) -> Path | None:
    """Return the first symbolic link below a folder on the path to a file, or None."""
    own = PurePath(name)
    paths = (folder / each for each in (*reversed(own.parents[:-1]), own))
    return next((path for path in paths if path.is_symlink()), None)


def _remove_empty(folder: Path, output: Path) -> None:
    """Delete folders with nothing but bytecode, which Python would import as packages."""
    with contextlib.suppress(OSError):  # not empty
        while folder != output and all(path.name == "__pycache__" for path in folder.iterdir()):
            for path in folder.glob("__pycache__/*.pyc"):
                path.unlink()
            for path in (*folder.iterdir(), folder):
                path.rmdir()
            folder = folder.parent


def unknown_modules(output: Path, manifest: dict[str, Any], files: Container[str]) -> list[str]:
    """Return the modules in the import package that neither ``files`` nor the manifest has."""
    paths = (output / "src" / manifest["package"]).rglob("*")
    found = (path for path in paths if path.suffix in _MODULES or (path.is_symlink() and path.is_dir()))
    names = {path.relative_to(output).as_posix() for path in found if path.parent.name != "__pycache__"}
    return sorted(name for name in names - manifest["files"].keys() if name not in files)


def difference(output: Path, manifest: dict[str, Any], files: dict[str, str]) -> Iterator[str]:
    """Yield the unified diff from the listed files on disk to ``files``; a changed file that is not text gets a sentence."""
    for name in sorted({*manifest["files"], *files}):
        old = _data(output / name)
        new = files[name].encode() if name in files else None
        if old != new:
            yield from _file_difference(name, old, new)


def _file_difference(name: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    lines = [] if new is None else list(io.StringIO(new.decode(), newline="\n"))
    try:
        before = [] if old is None else list(io.StringIO(old.decode(), newline="\n"))
    except UnicodeDecodeError:
        yield f"{name} (on disk) is not UTF-8 text{', and is not generated' if new is None else ''}\n"
        return
    if [line.replace("\r\n", "\n") for line in before] == lines:
        only = "is not generated" if new is None else "has other line ends: \\r\\n where \\n is generated"
        yield f"{name} {'is missing on disk' if old is None else f'(on disk) {only}'}\n"
        return
    for line in difflib.unified_diff(before, lines, f"{name} (on disk)", f"{name} (generated)"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
