"""What wheels and source distributions have to hold: their modules and no other, the licence, the notice, the README.

python -m tests.support.distributions FOLDER
"""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.pages import ROOT

# Folder of each distribution by name.
PROJECTS: Mapping[str, Path] = {
    "kafka_message_generator": ROOT / "generator",
    "kafka_messages": ROOT / "generated",
    "kafka_messages_native": ROOT / "packages" / "native",
    "kafka_messages_spark": ROOT / "packages" / "pipeline",
    "kafka_protocol_vectors": ROOT / "packages" / "vectors",
}
# Compiled modules by distribution: wheels contain them, but not their sources.
EXTENSIONS: Mapping[str, tuple[str, ...]] = {
    "kafka_messages_native": ("kafka_messages_native/_columns", "kafka_messages_native/_core")
}
LICENSES = ("LICENSE", "NOTICE")
RELATIVE_LINK = re.compile(r"\]\((?!https?://|#)")  # A relative link in a README, which is broken on a package index.


def readme_of(project: Path) -> str:
    """Return the README text that a project's metadata must contain."""
    said: str = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["readme"]
    return (project / said).read_text(encoding="utf-8").strip()


def sources_of(project: Path) -> dict[str, str]:
    """Return the files to be packed in wheels: path in the project by path in the wheel."""
    folder = project / "src"
    paths = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path: f"src/{path}" for path in paths if not _IS_NO_SOURCE.search(path)}


def contents_of(name: str, project: Path) -> set[str]:
    """Return the expected contents of a wheel; extension modules by name without suffix."""
    files = {path for path in sources_of(project) if not path.endswith((".c", ".h"))}
    return files | set(EXTENSIONS.get(name, ()))


_IS_NO_SOURCE = re.compile(r"__pycache__/|\.egg-info/")
_EXTENSION = re.compile(r"\.(?:(?:cpython-|cp)3[^/]*|abi3)\.(?:so|pyd)$")


def problems(folder: Path) -> Iterator[str]:
    """Return what is wrong with the distributions in a folder: each needs a wheel and a source distribution."""
    for name, project in PROJECTS.items():
        wheels, sources = (sorted(folder.glob(f"{name}-{pattern}")) for pattern in ("*.whl", "*.tar.gz"))
        if not wheels or (len(wheels) > 1 and name not in EXTENSIONS):
            many = " for each CPython" if name in EXTENSIONS else ""
            yield f"{name}: {len(wheels)} files that are its wheel, expected one{many}"
        if len(sources) != 1:
            yield f"{name}: {len(sources)} files that are its source distribution, expected one"
        for path in wheels:
            yield from _differences(path.name, _wheel(path), project)
            yield from _strangers(path.name, _in_wheel(path), contents_of(name, project))
        for path in sources:
            yield from _differences(path.name, _source(path), project)
            yield from _strangers(path.name, _in_source(path), set(sources_of(project).values()))


def _differences(name: str, contents: Mapping[str, bytes], project: Path) -> Iterator[str]:
    for license_file in LICENSES:
        if contents.get(license_file) != (project / license_file).read_bytes():
            yield f"{name}: {license_file} is {'another' if license_file in contents else 'missing'}"
    metadata = contents["metadata"].decode()
    for line in ("License-Expression: Apache-2.0", *(f"License-File: {each}" for each in LICENSES)):
        if f"\n{line}\n" not in metadata:
            yield f"{name}: its metadata has no line {line!r}"
    if readme_of(project) not in metadata:
        yield f"{name}: its metadata has not the README"


def _strangers(name: str, found: set[str], expected: set[str]) -> Iterator[str]:
    """Return missing modules, and leftover modules of an earlier build."""
    yield from (f"{name}: {each} is missing" for each in sorted(expected - found))
    yield from (f"{name}: {each} is not in the sources" for each in sorted(found - expected))


def _in_wheel(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as wheel:
        return {_EXTENSION.sub("", name) for name in wheel.namelist() if ".dist-info/" not in name}


def _in_source(path: Path) -> set[str]:
    top = f"{path.name.removesuffix('.tar.gz')}/"
    with tarfile.open(path) as source:
        names = {each.name.removeprefix(top) for each in source.getmembers() if each.isfile()}
    inside = {name for name in names if name.startswith(("generator/", "src/"))}
    return {name for name in inside if not _IS_NO_SOURCE.search(name.partition("/")[2])}


def _wheel(path: Path) -> dict[str, bytes]:
    """Return the relevant files in ``dist-info``."""
    with zipfile.ZipFile(path) as wheel:
        inside = {entry.partition(".dist-info/")[2]: wheel.read(entry) for entry in wheel.namelist()}
    licenses = {name.removeprefix("licenses/"): data for name, data in inside.items() if name.startswith("licenses/")}
    return licenses | {"metadata": inside["METADATA"]}


def _source(path: Path) -> dict[str, bytes]:
    """Return the relevant files at the top level."""
    found = {}
    with tarfile.open(path) as source:
        for name in (*LICENSES, "PKG-INFO"):
            entry = f"{path.name.removesuffix('.tar.gz')}/{name}"
            if entry in source.getnames() and (data := source.extractfile(entry)) is not None:
                found["metadata" if name == "PKG-INFO" else name] = data.read()
    return found


def main(arguments: Sequence[str]) -> int:
    found = list(problems(Path(arguments[0])))
    print("\n".join(found) or f"wheels and source distributions of {len(PROJECTS)} projects have all they need")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
