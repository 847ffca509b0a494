"""Kafka's jars from Maven Central, resolved by Maven."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from kafka_message_generator.compat.store import release_problem

ARTIFACTS = {
    "kafka-clients": "clients",
    "kafka-group-coordinator": "group-coordinator",
    "kafka-metadata": "metadata",
    "kafka-raft": "raft",
    "kafka-server-common": "server-common",
    "kafka-share-coordinator": "share-coordinator",
    "kafka-storage": "storage",
    "kafka-streams": "streams",
    "kafka-transaction-coordinator": "transaction-coordinator",
}
"""Artifacts that may contain definitions, with their folders below ``specs/kafka``."""

CORE = "kafka_2.13"
"""The broker's artifact; up to Kafka 3.9 it contains the definitions of the coordinators' records."""

FOLDERS = {**ARTIFACTS, CORE: "core"}

BROKER = (CORE, "kafka-tools-api")
"""Additional artifacts that define the broker's settings."""

GROUP = "org.apache.kafka"
TIMEOUT_SECONDS = 900


class ArtifactError(Exception):
    """Raised if the jars of a release cannot be downloaded, or are not in the folder given."""


@dataclass(frozen=True)
class Jars:
    """The jars of a release and their dependencies; ``versions`` is by artifact."""

    release: str
    versions: dict[str, str]
    classpath: tuple[Path, ...]

    def jar(self, artifact: str) -> Path:
        name = f"{artifact}-{self.versions[artifact]}.jar"
        return next(path for path in self.classpath if path.name == name)


def resolve(release: str, folder: Path, more: tuple[str, ...] = (), modules: Mapping[str, str] | None = None) -> Jars:
    """Copy the jars of a release and their dependencies into ``folder``. Raises ArtifactError.

    ``more`` are additional artifacts; ``modules`` are artifacts with versions, and replace the default list. An artifact
    missing in the release, except the clients, comes from an earlier release of the same major version.
    """
    check_release(release)
    need_maven()
    folder = folder.resolve()  # Maven resolves relative paths against the folder of the POM
    folder.mkdir(parents=True, exist_ok=True)
    pom = folder / "pom.xml"
    pom.write_text(
        _pom(modules or {name: _wanted(name, release) for name in (*ARTIFACTS, *more)}), encoding="utf-8", newline="\n"
    )
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    run_maven(command, f"Kafka {release}")
    jars = tuple(sorted(folder.glob("*.jar")))
    return Jars(release, {artifact: _version(artifact, jars) for artifact in modules or ARTIFACTS}, jars)


def check_release(release: str) -> None:
    if (problem := release_problem(release)) is not None:
        raise ArtifactError(problem)


def pom_of(dependencies: str) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>\n'
        "<groupId>kafka-messages</groupId><artifactId>release</artifactId><version>1</version>"
        f"<packaging>pom</packaging>\n<dependencies>\n{dependencies}</dependencies></project>\n"
    )


def need_maven() -> None:
    if shutil.which("mvn") is None:
        raise ArtifactError("Maven (the command mvn) is required to download Kafka's released jars; install it")


def run_maven(command: Sequence[str], what: str) -> None:
    """Run Maven. Raises ArtifactError if it fails or times out."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise ArtifactError(f"Maven did not resolve {what} within {TIMEOUT_SECONDS} seconds; try again") from None
    if done.returncode != 0:
        raise ArtifactError(f"Maven could not resolve {what}:\n{(done.stdout + done.stderr).strip()}")


def version_of(artifact: str, jars: Sequence[Path]) -> str | None:
    """Return the version of an artifact's jar among ``jars``; None if there is no such jar, or more than one."""
    pattern = re.compile(rf"{re.escape(artifact)}-([0-9][0-9.]*)\.jar")
    found = [match[1] for jar in jars if (match := pattern.fullmatch(jar.name))]
    return found[0] if len(found) == 1 else None


def _version(artifact: str, jars: Sequence[Path]) -> str:
    found = version_of(artifact, jars)
    if found is None:
        raise ArtifactError(f"expected one jar of {artifact}, found none or several; use an empty folder for downloads")
    return found


def _pom(modules: Mapping[str, str]) -> str:
    dependencies = "".join(
        f"<dependency><groupId>{GROUP}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{escape(version)}</version></dependency>\n"
        for artifact, version in modules.items()
    )
    return pom_of(dependencies)


def _wanted(artifact: str, release: str) -> str:
    return release if artifact == "kafka-clients" else f"[{release.split('.', 1)[0]}.0.0,{release}]"
