"""Releases of Kafka's modules on Maven Central, and their jars."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_message_generator.compat.store import order
from kafka_protocol_upstream.kafka.artifacts import (
    ARTIFACTS,
    CORE,
    GROUP,
    ArtifactError,
    Jars,
    check_release,
    need_maven,
    pom_of,
    resolve,
    run_maven,
)

MODULES = (*ARTIFACTS, CORE)
WITHOUT_CORE = (4,)
"""First release whose broker jar has no definitions."""
_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)+")
_VERSION = re.compile(r"<version>([^<]+)</version>")


def published(work: Path) -> dict[str, list[str]]:
    """Return the published versions of each module, ascending; Maven downloads below ``work``. Raises ArtifactError."""
    need_maven()
    work.mkdir(parents=True, exist_ok=True)
    repository = work / "repository"
    _maven(work / "ranges.xml", dict.fromkeys(MODULES, "[0,)"), "dependency:resolve", repository)
    return {module: _versions(repository / GROUP.replace(".", "/") / module, module) for module in MODULES}


def _versions(folder: Path, module: str) -> list[str]:
    tables = sorted(folder.glob("maven-metadata-*.xml"))
    if not tables:
        raise ArtifactError(f"Maven resolved {module}, but wrote no list of its versions to {folder}")
    found = {version for table in tables for version in _VERSION.findall(table.read_text(encoding="utf-8"))}
    return sorted((version for version in found if _NUMBERS.fullmatch(version)), key=order)


def jars_of(release: str, versions: dict[str, list[str]], work: Path) -> list[Path]:
    """Return the jars with the definitions of a release, downloaded below ``work`` if missing.

    A module that was not published for the release comes from an earlier one. Raises ArtifactError.
    """
    wanted = {module: _newest(release, known) for module, known in versions.items()}
    names = {f"{module}-{version}.jar": (module, version) for module, version in wanted.items() if version is not None}
    folder = work / release
    missing = dict(names[name] for name in names if not (folder / name).exists())
    if missing:
        goal = ("dependency:copy-dependencies", f"-DoutputDirectory={folder.resolve()}")
        _maven(work / f"{release}.xml", missing, *goal, work / "repository")
    return [folder / name for name in sorted(names)]


def resolve_any(release: str, folder: Path) -> Jars:
    """Resolve the jars of any release, without modules that did not exist yet.

    Up to 3.9 the broker's jar is included, since it contains definitions. Raises ArtifactError.
    """
    check_release(release)
    known = published(folder / "versions")
    if release not in known["kafka-clients"]:
        raise ArtifactError(f"Maven Central has no Kafka {release}; the newest is {known['kafka-clients'][-1]}")
    wanted = {module: _newest(release, versions) for module, versions in known.items()}
    if order(release) >= WITHOUT_CORE:
        del wanted[CORE]
    found = {module: version for module, version in wanted.items() if version is not None}
    return resolve(release, folder, modules=found)


def _newest(release: str, versions: list[str]) -> str | None:
    return max((version for version in versions if order(version) <= order(release)), key=order, default=None)


def _maven(pom: Path, versions: dict[str, str], *rest: str | Path) -> None:
    *goal, repository = rest
    alone = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    dependencies = "".join(
        f"<dependency><groupId>{GROUP}</groupId><artifactId>{module}</artifactId><version>{version}</version>{alone}"
        "</dependency>\n"
        for module, version in versions.items()
    )
    pom.write_text(pom_of(dependencies), encoding="utf-8", newline="\n")
    command = ["mvn", "-q", "-B", "-f", str(pom), f"-Dmaven.repo.local={Path(repository).resolve()}", *map(str, goal)]
    run_maven(command, f"the artifacts in {pom.as_posix()}")
