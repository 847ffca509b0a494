"""The command ``import-release``: a release into the history and the definitions, what it changed, and what is left to do."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from kafka_message_generator.evolution.report import compare
from kafka_message_generator.evolution.texts import text
from kafka_message_generator.history import importer, store
from kafka_message_generator.history.sides import baseline, side_of_release
from kafka_message_generator.release.artifacts import ARTIFACTS, CORE, ArtifactError, Jars, order, version_of
from kafka_message_generator.release.importer import ImportSpecsError, import_specs
from kafka_message_generator.release.published import WITHOUT_CORE, jars_of, published
from kafka_message_generator.renewal.decisions import decisions

ABOUT = (
    "Take a new release of Kafka from Maven Central, or from a folder of its jars, into the history and the definitions; "
    "print what it changed against the release before it, and what is left for people to say."
)
EXAMPLE = "kafka-message-generator import-release 4.4.0 --work .work/history"
LEVEL = "policy"
"""Of the report: what is gone is what users ask for first."""
NEXT = """\
next:
  nox -s settings enumerations     tables of settings, names of numbers and error codes, by Kafka's classes (needs a JDK)
  nox -s regenerate                the packages
  nox -s vectors                   vectors by Kafka's classes (needs a JDK)
  nox -s history-classes           the bytes of docs/history.md, exchanged by Kafka's classes (needs a JDK)
  nox -s tests
"""
_CLIENTS = re.compile(r"kafka-clients-([0-9]+(?:\.[0-9]+)+)\.jar")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("what", metavar="RELEASE", help="for example 4.4.0; or a folder with the jars of one release")
    parser.add_argument(
        "--specs", type=Path, default=Path("specs/kafka"), metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument(
        "--history", type=Path, default=Path("specs/history"), metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument("--work", type=Path, default=Path(".work/history"), help="for downloads (default: %(default)s)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import, compare and list; exit code 1 where the release cannot be had or read, and then nothing is written."""
    try:
        jars = _jars(arguments.what, arguments.work)
        _renew(jars, arguments.specs, arguments.history)
    except (ArtifactError, store.HistoryError, ImportSpecsError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _jars(what: str, work: Path) -> Jars:
    """The jars of a release by its name, downloaded, or those in a folder."""
    folder = Path(what)
    if folder.is_dir():
        found = sorted(folder.glob("*.jar"))
        releases = [match[1] for path in found if (match := _CLIENTS.fullmatch(path.name))]
        if len(releases) != 1:
            raise ArtifactError(
                f"{what}: one kafka-clients-RELEASE.jar says which release it is; there are {len(releases)}"
            )
        return _known(releases[0], found)
    versions = published(work)
    if what not in versions["kafka-clients"]:
        raise ArtifactError(
            f"{what}: is no folder, and no Kafka that Maven Central has; the newest is {versions['kafka-clients'][-1]}"
        )
    return _known(what, jars_of(what, versions, work))


def _known(release: str, found: list[Path]) -> Jars:
    versions = {module: version for module in (*ARTIFACTS, CORE) if (version := version_of(module, found)) is not None}
    jars = tuple(path for path in found if any(path.name == f"{name}-{at}.jar" for name, at in versions.items()))
    return Jars(release, versions, jars)


def _renew(jars: Jars, specs: Path, history: Path) -> None:
    release = jars.release
    before = [name for name in store.read(history).names if order(name) < order(release)]
    changes = importer.add_release(release, list(jars.classpath), history, lambda line: print(line, file=sys.stderr))
    print(
        "\n".join(f"{history.as_posix()}: {line}" for line in changes)
        or f"{history.as_posix()} has Kafka {release} already"
    )
    is_newest = release == store.read(history).names[-1]
    if is_newest:
        modules = {name: at for name, at in jars.versions.items() if name != CORE or order(release) < WITHOUT_CORE}
        changes = import_specs(Jars(release, modules, jars.classpath), specs)
        print(
            "\n".join(f"{specs.as_posix()}: {line}" for line in changes)
            or f"{specs.as_posix()} is Kafka {release} already"
        )
    if before:
        old = side_of_release(history, before[-1])
        print(text(compare(baseline(old.name, [old]), side_of_release(history, release)), LEVEL), end="")
    if not is_newest:
        print(f"Kafka {release} is not the newest release: {specs.as_posix()} is left as it is")
        return
    found = decisions(specs, history, release)
    print(f"{len(found)} left to decide:" if found else "nothing left to decide about its definitions")
    for each in found:
        print(f"  {specs.as_posix()}/{each}")
    print(NEXT, end="")
