"""Writing of a generated package, and comparison with the files on disk."""

from __future__ import annotations

import difflib
import hashlib
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_message_generator.render.identity import IdentityError
from kafka_message_generator.render.package import MANIFEST, PackageRequest, inputs_hash, tools
from kafka_message_generator.spec.settings import Settings
from kafka_message_generator.spec.source import Location, Problems


def is_current(request: PackageRequest) -> bool:
    """Return whether the manifest matches the inputs, the tools and the files on disk."""
    path = request.output / MANIFEST
    if not path.exists():
        return False
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        hashes = dict(manifest["files"])
        if manifest["inputs"] != inputs_hash(request) or manifest["tools"] != tools():
            return False
    except (ValueError, KeyError, TypeError, OSError):
        return False  # a broken manifest is replaced; loading reports unreadable inputs
    present = {file.relative_to(request.output).as_posix(): file for file in _files(request.output)}
    present.pop(MANIFEST, None)
    return present.keys() == hashes.keys() and all(
        hashlib.sha256(file.read_bytes()).hexdigest() == hashes[name] for name, file in present.items()
    )


def check_folder(output: Path) -> None:
    """Raise IdentityError if the folder has files but is not a generated package."""
    if output.exists() and any(output.iterdir()) and not (output / MANIFEST).exists():
        raise IdentityError(
            f"{output} contains files but no {MANIFEST}, so it is not a generated package; choose another folder"
        )


def check_owner(request: PackageRequest, settings: Settings, problems: Problems) -> None:
    package = request.package or settings.import_name
    owner = _manifest(request.output).get("package", package)
    if package is None or owner == package:
        return
    place = Location("command line", 1, "--package") if request.package else settings.places["import-name"]
    what = f"{request.output} holds the package {owner}, not {package}"
    problems.error(place, f"{what}; choose another folder, or remove this one first")


def tools_of(output: Path) -> dict[str, str]:
    """Return the tool versions in the manifest, or the current versions if the manifest has none."""
    found = _manifest(output).get("tools")
    return {name: str(version) for name, version in found.items()} if isinstance(found, dict) else tools()


def other_tools(output: Path) -> str | None:
    """Return a note if other tool versions generated the package, else None."""
    used = tools_of(output)
    if used == tools():
        return None
    before, now = (", ".join(f"{name} {version}" for name, version in each.items()) for each in (used, tools()))
    return f"{output} was generated with {before}, but {now} are installed; this may cause differences"


def _manifest(output: Path) -> dict[str, Any]:
    try:
        found = json.loads((output / MANIFEST).read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return {}
    return found if isinstance(found, dict) else {}


def write(output: Path, files: dict[str, str]) -> list[str]:
    """Write the files, delete all others except build artifacts, and return the written and deleted paths."""
    changed = []
    for file in _files(output):
        name = file.relative_to(output).as_posix()
        if name not in files:
            _remove(file, output)
            if name.startswith("src/"):
                _remove(_build_copy(file, output), output)
            changed.append(name)
    for name, text in sorted(files.items()):
        path = output / name
        if not path.exists() or path.read_bytes() != text.encode():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            changed.append(name)
    return sorted(changed)


def _build_copy(file: Path, output: Path) -> Path:
    """Return the path of a module's copy in setuptools' build folder; the next wheel would contain a stale copy."""
    return output / "build" / "lib" / file.relative_to(output / "src")


def _remove(file: Path, output: Path) -> None:
    """Delete a file, and parent folders with nothing but caches, which Python would import as packages."""
    if not file.exists():
        return
    file.unlink()
    folder = file.parent
    while folder != output and all(path.name == "__pycache__" for path in folder.iterdir()):
        shutil.rmtree(folder)
        folder = folder.parent


def difference(output: Path, files: dict[str, str]) -> Iterator[str]:
    """Yield the unified diff from the files on disk to ``files``; a changed file that is not text gets a sentence."""
    present = {file.relative_to(output).as_posix(): file for file in _files(output)}
    for name in sorted({*present, *files}):
        old = present[name].read_bytes() if name in present else None
        new = files[name].encode() if name in files else None
        if old != new:
            yield from _file_difference(name, old, new)


def _file_difference(name: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    lines = [] if new is None else _lines(new.decode())
    try:
        before = [] if old is None else _lines(old.decode())
    except UnicodeDecodeError:
        yield f"{name} (on disk) is not UTF-8 text{', and is not generated' if new is None else ''}\n"
        return
    if [line.replace("\r\n", "\n") for line in before] == lines:
        if old is None:
            yield f"{name} is empty, and missing on disk\n"
        elif new is None:
            yield f"{name} (on disk) is empty, and is not generated\n"
        else:
            yield f"{name} (on disk) has other line ends: \\r\\n where \\n is generated\n"
        return
    for line in difflib.unified_diff(before, lines, f"{name} (on disk)", f"{name} (generated)"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline="\n"))


def _files(output: Path) -> list[Path]:
    return sorted(
        path for path in output.rglob("*") if path.is_file() and not _is_build_artifact(path.relative_to(output).parts)
    )


def _is_build_artifact(parts: tuple[str, ...]) -> bool:
    # "build" may also be a package name.
    is_cache = any(part in ("__pycache__", ".mypy_cache") or part.endswith(".egg-info") for part in parts)
    return is_cache or (parts[0] == "build" and len(parts) > 1)
