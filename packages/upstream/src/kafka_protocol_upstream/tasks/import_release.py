"""The task ``import-release``: imports a new release, and reports changes and open decisions."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.compat import store
from kafka_message_generator.compat.definition_sets import baseline, set_of_release
from kafka_message_generator.compat.report import compare
from kafka_message_generator.compat.store import order
from kafka_message_generator.compat.texts import text
from kafka_message_generator.spec.setting_checks import SETTINGS
from kafka_message_generator.spec.source import SpecError
from kafka_protocol_upstream.kafka import history as importer
from kafka_protocol_upstream.kafka.artifacts import ARTIFACTS, CORE, ArtifactError, Jars, version_of
from kafka_protocol_upstream.kafka.decisions import decisions
from kafka_protocol_upstream.kafka.definitions import ImportSpecsError, import_specs
from kafka_protocol_upstream.kafka.published import WITHOUT_CORE, jars_of, published

ABOUT = (
    "Import a new release of Kafka from Maven Central, or from a folder of its jars, into the history and the definitions; "
    "print the changes since the previous release, and the open decisions. Files are written only with --write, and only "
    "if the whole import succeeds."
)
LEVEL = "policy"
"""Level of the report; the findings that count include removals."""
NEXT = """\
next:
  nox -s upstream -- settings          updates the table of settings with Kafka's classes (needs a JDK)
  nox -s upstream -- enumerations      updates enumerations and error codes with Kafka's classes (needs a JDK)
  nox -s regenerate                    updates the package if the definitions changed
  nox -s upstream -- vectors           writes vectors with Kafka's classes (needs a JDK)
  nox -s upstream -- exchange          checks docs/history.md with Kafka's classes (needs a JDK)
  packages/pipeline/pyproject.toml     update the supported versions of kafka-messages
  nox -s tests
"""
_PACKAGE_VERSION = re.compile(r'^version = "([^"]*)"', re.MULTILINE)
_CLIENTS = re.compile(r"kafka-clients-([0-9]+(?:\.[0-9]+)+)\.jar")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="RELEASE", help="for example 4.4.0; or a folder with the jars of one release")
    parser.add_argument(
        "--specs", type=Path, default=Path("specs/kafka"), metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument(
        "--history", type=Path, default=Path("specs/history"), metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument(
        "--work", type=Path, default=Path(".work/history"), help="folder for downloads (default: %(default)s)"
    )
    parser.add_argument("--write", action="store_true", help="write the changes; otherwise this is a dry run")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import into copies and report; copy the results back only with ``--write`` and if everything succeeds."""
    with tempfile.TemporaryDirectory() as folder:
        copies = _copies(arguments.specs, arguments.history, Path(folder))
        try:
            jars = _jars(arguments.what, arguments.work)
            report = "".join(f"{line}\n" for line in _update(jars, *copies.values()))
        except (ArtifactError, store.HistoryError, ImportSpecsError, SpecError) as error:
            print(_at_home(str(error), copies), file=sys.stderr)
            print("nothing was written", file=sys.stderr)
            return 1
        print(_at_home(report, copies), end="")
        if arguments.write:
            for home, copy in copies.items():
                _take_over(copy, home)
            print(NEXT, end="")
        else:
            print("nothing was written: this was a dry run; use --write to write the changes")
    return 0


def _copies(specs: Path, history: Path, folder: Path) -> dict[Path, Path]:
    above = os.path.commonpath([specs.resolve(), history.resolve()])
    copies = {home: folder / home.resolve().relative_to(above) for home in (specs, history)}
    for home, copy in copies.items():
        if home.exists():
            shutil.copytree(home, copy, dirs_exist_ok=True)
    return copies


def _at_home(text: str, copies: Mapping[Path, Path]) -> str:
    for home, copy in copies.items():
        text = text.replace(copy.as_posix(), home.as_posix()).replace(str(copy), str(home))
    return text


def _take_over(copy: Path, home: Path) -> None:
    for path in sorted(copy.rglob("*")):
        target = home / path.relative_to(copy)
        if path.is_file() and not (target.is_file() and target.read_bytes() == path.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for path in sorted(home.rglob("*")):
        if path.is_file() and not (copy / path.relative_to(home)).exists():
            path.unlink()


def _jars(what: str, work: Path) -> Jars:
    folder = Path(what)
    if folder.is_dir():
        found = sorted(folder.glob("*.jar"))
        releases = [match[1] for path in found if (match := _CLIENTS.fullmatch(path.name))]
        if len(releases) != 1:
            raise ArtifactError(f"{what}: expected one kafka-clients-RELEASE.jar, found {len(releases)}")
        return _known(releases[0], found)
    versions = published(work)
    if what not in versions["kafka-clients"]:
        raise ArtifactError(
            f"{what}: neither a folder nor a release on Maven Central; the newest is {versions['kafka-clients'][-1]}"
        )
    return _known(what, jars_of(what, versions, work))


def _known(release: str, found: list[Path]) -> Jars:
    versions = {module: version for module in (*ARTIFACTS, CORE) if (version := version_of(module, found)) is not None}
    jars = tuple(path for path in found if any(path.name == f"{name}-{at}.jar" for name, at in versions.items()))
    return Jars(release, versions, jars)


def _update(jars: Jars, specs: Path, history: Path) -> Iterator[str]:
    release = jars.release
    before = [name for name in store.read(history).names if order(name) < order(release)]
    changes = importer.add_release(release, list(jars.classpath), history, lambda line: print(line, file=sys.stderr))
    yield from _changed(history, changes, f"already has Kafka {release}")
    is_newest = release == store.read(history).names[-1]
    if is_newest:
        modules = {name: at for name, at in jars.versions.items() if name != CORE or order(release) < WITHOUT_CORE}
        changes = import_specs(Jars(release, modules, jars.classpath), specs)
        changes += [f"write {SETTINGS}"] if _set_version(specs / SETTINGS, release) else []
        yield from _changed(specs, changes, f"is already Kafka {release}")
    if before:
        old = set_of_release(history, before[-1])
        yield text(compare(baseline(old.name, [old]), set_of_release(history, release)), LEVEL).rstrip("\n")
    if not is_newest:
        yield f"Kafka {release} is not the newest release: {specs.as_posix()} is unchanged"
        return
    found = [*_refused(specs), *(f"{specs.as_posix()}/{each}" for each in decisions(specs, history, release))]
    yield f"{len(found)} open decisions:" if found else "no open decisions"
    yield from (f"  {each}" for each in found)


def _changed(folder: Path, changes: list[str], otherwise: str) -> Iterator[str]:
    yield from (f"{folder.as_posix()}: {line}" for line in changes)
    if not changes:
        yield f"{folder.as_posix()} {otherwise}"


def _set_version(path: Path, release: str) -> bool:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = _PACKAGE_VERSION.search(text)
    if found is None or found[1].startswith(f"{release}."):
        return False
    path.write_text(f"{text[: found.start(1)]}{release}.1{text[found.end(1) :]}", encoding="utf-8", newline="\n")
    return True


def _refused(specs: Path) -> Iterator[str]:
    try:
        definitions.load(specs)
    except SpecError as error:
        yield from (f"{each} (the generator rejects this)" for each in error.problems)
