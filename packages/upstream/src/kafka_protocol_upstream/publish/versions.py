"""Versions of the distributions that are released together, and their order of upload."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MESSAGES = "kafka-messages"
"""The distribution whose version is Kafka's release and a revision, such as 4.4.0.1."""
PRIVATE = "Private :: Do Not Upload"
_IS_LOCAL = re.compile(r"-linux_[a-z0-9_]+\.whl$")
"""File names of wheels that PyPI rejects, because of their platform tag."""


@dataclass(frozen=True)
class Project:
    name: str
    version: str
    requires: tuple[Requirement, ...]
    is_private: bool


def read(folder: Path) -> Project:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # The extra ``tools`` is ignored: the tools depend on the package, and already bound its version.
    wanted = {name: needs for name, needs in project.get("optional-dependencies", {}).items() if name != "tools"}
    extras = [each for needs in wanted.values() for each in needs]
    requires = tuple(map(Requirement, [*project.get("dependencies", ()), *extras]))
    return Project(project["name"], project["version"], requires, PRIVATE in project["classifiers"])


def conflicts(projects: Sequence[Project]) -> Iterator[str]:
    """Yield the conflicts between versions and requirements of the projects."""
    by_name = {project.name: project for project in projects}
    ours = [project for project in projects if project.name != MESSAGES]
    if len({project.version for project in ours}) > 1:
        have = ", ".join(f"{project.name} has {project.version}" for project in ours)
        yield f"{have}; give all projects the same version, except {MESSAGES}, which follows Kafka's"
    for project in projects:
        for need in project.requires:
            other = by_name.get(canonicalize_name(need.name))
            if other is not None and not need.specifier.contains(other.version, prereleases=True):
                yield f"{project.name} requires {need}, but its version is {other.version}; change one of them"
            elif other is not None and not any(each.operator in ("<", "<=", "==", "~=") for each in need.specifier):
                yield f"{project.name} requires {need}, which has no upper bound; add one"


def in_order(projects: Sequence[Project]) -> list[Project]:
    """Return the projects to upload in upload order: dependencies first."""
    by_name: Mapping[str, Project] = {project.name: project for project in projects}
    needs = {
        each.name: sorted({canonicalize_name(need.name) for need in each.requires} & by_name.keys())
        for each in projects
    }
    order = TopologicalSorter(dict(sorted(needs.items()))).static_order()
    return [by_name[name] for name in order if not by_name[name].is_private]


def uploads(projects: Sequence[Project], folder: Path) -> Iterator[str]:
    """Yield the lines to print: the upload commands in order, and the projects that are not uploaded."""
    yield "Nothing was uploaded. Run these commands in order; wait until each upload is available on PyPI:"
    for project in in_order(projects):
        stem = f"{project.name.replace('-', '_')}-{project.version}"
        files = sorted(path for path in folder.iterdir() if path.name.startswith((f"{stem}-", f"{stem}.tar")))
        yield f"  twine upload {' '.join(path.as_posix() for path in files if not _IS_LOCAL.search(path.name))}"
        if any(_IS_LOCAL.search(path.name) for path in files):
            yield f"  and the wheels from cibuildwheel; other wheels in {folder.as_posix()} are only for this machine"
    for project in projects:
        if project.is_private:
            yield f"{project.name} {project.version} is not uploaded: {PRIVATE}"
