"""Required contents of wheels and source distributions: modules, license, notice and README."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = next((each for each in (Path.cwd(), *Path.cwd().parents) if (each / "noxfile.py").is_file()), Path.cwd())
PROJECTS: Mapping[str, Path] = {
    "kafka_conformance": ROOT / "packages" / "conformance",
    "kafka_message_generator": ROOT / "generator",
    "kafka_messages": ROOT / "generated",
    "kafka_messages_native": ROOT / "packages" / "native",
    "kafka_messages_spark": ROOT / "packages" / "pipeline",
    "kafka_messages_testkit": ROOT / "packages" / "testkit",
    "kafka_messages_tools": ROOT / "packages" / "tools",
    "kafka_protocol_pages": ROOT / "packages" / "pages",
    "kafka_protocol_upstream": ROOT / "packages" / "upstream",
    "kafka_records": ROOT / "packages" / "records",
    "kafka_protocol_vectors": ROOT / "packages" / "vectors",
}
"""Folders of the distributions, by their name in file names of wheels."""
EXTENSIONS: Mapping[str, tuple[str, ...]] = {
    "kafka_messages_native": ("kafka_messages_native/_columns", "kafka_messages_native/_core")
}
"""Compiled modules by distribution."""
BUILT: Mapping[str, tuple[str, ...]] = {
    "kafka_messages_tools": tuple(
        f"kafka_messages_tools/command/completions/{shell}" for shell in ("bash", "fish", "zsh")
    )
}
"""Files created by the build, by distribution."""
LICENSES = ("LICENSE", "NOTICE")
RELATIVE_LINK = re.compile(r"\]\((?!https?://|#)")


def readme_of(project: Path) -> str:
    readme: str = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["readme"]
    return (project / readme).read_text(encoding="utf-8").strip()


def sources_of(project: Path) -> dict[str, str]:
    """Map the path of each source file below ``src`` to its path in the project."""
    folder = project / "src"
    paths = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path: f"src/{path}" for path in paths if not _IS_NO_SOURCE.search(path)}


def contents_of(name: str, project: Path) -> set[str]:
    """Return the expected files of a wheel; compiled modules are named without the suffix of an interpreter."""
    files = {path for path in sources_of(project) if not path.endswith((".c", ".h"))}
    return files | {*EXTENSIONS.get(name, ()), *BUILT.get(name, ())}


_IS_NO_SOURCE = re.compile(r"__pycache__/|\.egg-info/")
_EXTENSION = re.compile(r"\.(?:(?:cpython-|cp)3[^/]*|abi3)\.(?:so|pyd)$")


def problems(folder: Path) -> Iterator[str]:
    """Yield the problems of the distributions in a folder; a missing distribution is a problem, too."""
    for name, project in PROJECTS.items():
        wheels, sources = (sorted(folder.glob(f"{name}-{pattern}")) for pattern in ("*.whl", "*.tar.gz"))
        if not wheels or (len(wheels) > 1 and name not in EXTENSIONS):
            many = " for each CPython" if name in EXTENSIONS else ""
            yield f"{name}: {len(wheels)} wheels, expected one{many}"
        if len(sources) != 1:
            yield f"{name}: {len(sources)} source distributions, expected one"
        for path in wheels:
            yield from _differences(path.name, _wheel(path), project)
            yield from _strangers(path.name, _in_wheel(path), contents_of(name, project))
        for path in sources:
            yield from _differences(path.name, _source(path), project)
            yield from _strangers(path.name, _in_source(path), set(sources_of(project).values()))


def _differences(name: str, contents: Mapping[str, bytes], project: Path) -> Iterator[str]:
    for license_file in LICENSES:
        if contents.get(license_file) != (project / license_file).read_bytes():
            yield f"{name}: {license_file} {'differs from the project' if license_file in contents else 'is missing'}"
    metadata = contents["metadata"].decode()
    for line in ("License-Expression: Apache-2.0", *(f"License-File: {each}" for each in LICENSES)):
        if f"\n{line}\n" not in metadata:
            yield f"{name}: the metadata has no line {line!r}"
    if readme_of(project) not in metadata:
        yield f"{name}: the metadata does not contain the README"


def _strangers(name: str, found: set[str], expected: set[str]) -> Iterator[str]:
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
    with zipfile.ZipFile(path) as wheel:
        inside = {entry.partition(".dist-info/")[2]: wheel.read(entry) for entry in wheel.namelist()}
    licenses = {name.removeprefix("licenses/"): data for name, data in inside.items() if name.startswith("licenses/")}
    return licenses | {"metadata": inside["METADATA"]}


def _source(path: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(path) as source:
        for name in (*LICENSES, "PKG-INFO"):
            entry = f"{path.name.removesuffix('.tar.gz')}/{name}"
            if entry in source.getnames() and (data := source.extractfile(entry)) is not None:
                found["metadata" if name == "PKG-INFO" else name] = data.read()
    return found
