"""What wheels and source distributions have to hold: the licence, what comes from others, the README.

python -m tests.support.distributions FOLDER
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.pages import ROOT

PROJECTS: Mapping[str, Path] = {
    "kafka_message_generator": ROOT,
    "kafka_messages": ROOT / "generated",
    "kafka_messages_proposals": ROOT / "generated_proposals",
    "kafka_messages_spark": ROOT / "pipeline",
}
"""The folder of each distribution, by its name in file names."""
LICENSES = ("LICENSE", "NOTICE")


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the distributions in a folder: each has to be there as wheel and as source."""
    for name, project in PROJECTS.items():
        wheels, sources = (sorted(folder.glob(f"{name}-{pattern}")) for pattern in ("*.whl", "*.tar.gz"))
        for kind, found in (("wheel", wheels), ("source distribution", sources)):
            if len(found) != 1:
                yield f"{name}: {len(found)} files that are its {kind}, expected one"
        for path in wheels:
            yield from _differences(path.name, _wheel(path), project)
        for path in sources:
            yield from _differences(path.name, _source(path), project)


def _differences(name: str, contents: Mapping[str, bytes], project: Path) -> Iterator[str]:
    for license_file in LICENSES:
        if contents.get(license_file) != (project / license_file).read_bytes():
            yield f"{name}: {license_file} is {'another' if license_file in contents else 'missing'}"
    metadata = contents["metadata"].decode()
    for line in ("License-Expression: Apache-2.0", *(f"License-File: {each}" for each in LICENSES)):
        if f"\n{line}\n" not in metadata:
            yield f"{name}: its metadata has no line {line!r}"
    if (project / "README.md").read_text(encoding="utf-8").strip() not in metadata:
        yield f"{name}: its metadata has not the README"


def _wheel(path: Path) -> dict[str, bytes]:
    """The files of the ``dist-info`` folder that matter here."""
    with zipfile.ZipFile(path) as wheel:
        inside = {entry.partition(".dist-info/")[2]: wheel.read(entry) for entry in wheel.namelist()}
    licenses = {name.removeprefix("licenses/"): data for name, data in inside.items() if name.startswith("licenses/")}
    return licenses | {"metadata": inside["METADATA"]}


def _source(path: Path) -> dict[str, bytes]:
    """The files at the top that matter here."""
    found = {}
    with tarfile.open(path) as source:
        for name in (*LICENSES, "PKG-INFO"):
            entry = f"{path.name.removesuffix('.tar.gz')}/{name}"
            if entry in source.getnames() and (data := source.extractfile(entry)) is not None:
                found["metadata" if name == "PKG-INFO" else name] = data.read()
    return found


def main(arguments: Sequence[str]) -> int:
    found = list(problems(Path(arguments[0])))
    print("\n".join(found) or f"{len(PROJECTS)} wheels and source distributions have all they need")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
