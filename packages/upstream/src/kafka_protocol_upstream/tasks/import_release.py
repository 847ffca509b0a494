"""The task ``import-release``: imports a new release, and reports changes and open decisions."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.compat import store
from kafka_message_generator.compat.definition_sets import DefinitionSet, baseline, set_of_release
from kafka_message_generator.compat.impact import ImpactItem, ImpactReport, impact
from kafka_message_generator.compat.impact_texts import as_html, as_text
from kafka_message_generator.compat.inputs import GIT, CompatInputError
from kafka_message_generator.compat.store import order
from kafka_message_generator.files import replace_file
from kafka_message_generator.spec.setting_checks import SETTINGS
from kafka_message_generator.spec.source import SpecError
from kafka_protocol_upstream.kafka import history as importer
from kafka_protocol_upstream.kafka import kips
from kafka_protocol_upstream.kafka.artifacts import ARTIFACTS, CORE, ArtifactError, Jars, version_of
from kafka_protocol_upstream.kafka.decisions import decisions
from kafka_protocol_upstream.kafka.definitions import ImportSpecsError, SourceDefinition, definitions_of, write_specs
from kafka_protocol_upstream.kafka.published import WITHOUT_CORE, jars_of, published
from kafka_protocol_upstream.kafka.sources import check, of_source, overlaid

ABOUT = (
    "Import a release of Kafka, or definitions that are not released yet, into the history and the definitions; report what "
    "changes, what it breaks in programs for the previous release, and what is left to decide. Files are written only "
    "with --write, and only if the whole import succeeds."
)
NEXT = """\
next:
  nox -s upstream -- settings          updates the table of settings with Kafka's classes (needs a JDK)
  nox -s upstream -- enumerations      updates enumerations and error codes with Kafka's classes (needs a JDK)
  nox -s regenerate                    updates the package if the definitions changed
  nox -s upstream -- vectors           writes vectors with Kafka's classes (needs a JDK)
  nox -s upstream -- exchange          checks docs/history.md with Kafka's classes (needs a JDK)
  nox -s tests
"""
_PACKAGE_VERSION = re.compile(r'^version = "([^"]*)"', re.MULTILINE)
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_CLIENTS = re.compile(r"kafka-clients-([0-9]+(?:\.[0-9]+)+)\.jar")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = (
        "a release such as 4.4.0, a folder with its jars, a folder of definitions, or git:REF:FOLDER (default: --specs)"
    )
    parser.add_argument("what", metavar="SOURCE", nargs="?", help=what)
    for option, metavar, default, about in (
        ("--specs", "FOLDER", Path("specs/kafka"), "default: %(default)s"),
        ("--history", "FOLDER", Path("specs/history"), "default: %(default)s"),
        ("--work", "FOLDER", Path(".work/history"), "folder for downloads (default: %(default)s)"),
        ("--overlay", "FOLDER", None, "changed definitions of a proposal, which replace those of SOURCE by file name"),
        ("--repository", "PATH", None, "Git repository of git:REF:FOLDER (default: the current folder)"),
        ("--html", "FILE", None, "also write the report as HTML"),
    ):
        parser.add_argument(option, metavar=metavar, type=Path, default=default, help=about)
    parser.add_argument("--release", help="release of the definitions; required unless SOURCE is a release or its jars")
    parser.add_argument("--write", action="store_true", help="write the changes; otherwise this is a dry run")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import into copies and report; copy the results back only with ``--write`` and if everything succeeds."""
    with tempfile.TemporaryDirectory() as folder:
        copies = _copies(arguments.specs, arguments.history, Path(folder))
        try:
            if arguments.html is not None and not arguments.html.resolve().parent.is_dir():
                raise ImportSpecsError(f"--html: the folder of {arguments.html.as_posix()} does not exist")
            source = _source(arguments)
            lines, report = _update(source, *copies.values())
        except (ArtifactError, CompatInputError, store.HistoryError, ImportSpecsError, SpecError) as error:
            print(_at_home(str(error), copies), file=sys.stderr)
            print("nothing was written", file=sys.stderr)
            return 1
        print(_at_home("\n".join([*lines, as_text(report)]), copies), end="")
        if arguments.html is not None:
            replace_file(arguments.html, [_at_home(as_html(report), copies).encode()])
        if arguments.write:
            for home, copy in copies.items():
                _take_over(copy, home)
            # Kafka's own classes are needed for the other steps.
            print("".join(line for line in NEXT.splitlines(True) if source.jars or "JDK" not in line), end="")
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
            replace_file(target, [path.read_bytes()])
    for path in sorted(home.rglob("*")):
        if path.is_file() and not (copy / path.relative_to(home)).exists():
            path.unlink()


@dataclass(frozen=True)
class ReleaseSource:
    """The definitions of a release; ``jars`` is None if they are not those of its jars."""

    release: str
    definitions: Mapping[str, SourceDefinition]
    jars: Jars | None = None
    notes: tuple[str, ...] = ()


def _source(arguments: argparse.Namespace) -> ReleaseSource:
    what, release = arguments.what, arguments.release
    found = None
    if what is not None and not what.startswith(GIT) and (not Path(what).is_dir() or list(Path(what).glob("*.jar"))):
        jars = _jars(what, arguments.work)
        found = definitions_of(jars.release, jars.classpath, lambda line: print(line, file=sys.stderr))
        if arguments.overlay is None and release in (None, jars.release):
            return ReleaseSource(jars.release, found, jars)
    found, kept = of_source(what, arguments.specs, release or "", arguments.repository, found)
    if arguments.overlay is not None:
        found = overlaid(found, arguments.overlay, release or "")
    elif what is None:
        raise ImportSpecsError("no definitions given; name a SOURCE, or changed definitions with --overlay")
    notes = tuple(
        f"{arguments.specs.as_posix()}/{name}: kept: {what} has no definitions of this module" for name in kept
    )
    if release is None or not _RELEASE.fullmatch(release):
        got = "it is missing" if release is None else f"got {release}"
        raise ImportSpecsError(f"--release: expected the release of these definitions, such as 4.5.0; {got}")
    return ReleaseSource(release, found, None, notes)


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


def _update(source: ReleaseSource, specs: Path, history: Path) -> tuple[list[str], ImpactReport]:
    release, jars = source.release, source.jars
    names = store.read(history).names
    before = [name for name in names if order(name) < order(release)]
    is_newest = not names or order(release) >= order(names[-1])
    if jars is None and release in names and store.releases_of(history)[release][0]:
        raise ImportSpecsError(f"--release: {release} is already imported from its jars; name the next release")
    if is_newest:
        check(source.definitions, specs)
    elif jars is None:
        raise ImportSpecsError(f"--release: {release} is older than {names[-1]}; import an older release from its jars")
    changes = importer.add_release(release, source.definitions, jars.classpath if jars is not None else (), history)
    lines = [*source.notes, *_changed(history, changes, f"already has Kafka {release}")]
    if is_newest:
        if jars is not None:
            modules = {name: at for name, at in jars.versions.items() if name != CORE or order(release) < WITHOUT_CORE}
            jars = replace(jars, versions=modules)
        changes = write_specs(release, source.definitions, specs, jars)
        changes += kips.write(specs, kips.merged(kips.read(specs), source.definitions))
        changes += [f"write {SETTINGS}"] if _set_version(specs / SETTINGS, release) else []
        lines += _changed(specs, changes, f"is already Kafka {release}")
    else:
        lines.append(f"Kafka {release} is not the newest release: {specs.as_posix()} is unchanged")
    to_do = [*_refused(specs), *_decided(specs, history, release)] if is_newest else None
    old = set_of_release(history, before[-1]) if before else DefinitionSet("no release", {}, {})
    return lines, impact(baseline(old.name, [old]), set_of_release(history, release), to_do)


def _decided(specs: Path, history: Path, release: str) -> Iterator[ImpactItem]:
    for each in decisions(specs, history, release):
        place = " ".join(filter(None, (f"{specs.as_posix()}/{each.file}", each.message, each.path)))
        yield ImpactItem(place, f"{each.what}; covered by {each.test}")


def _changed(folder: Path, changes: list[str], otherwise: str) -> Iterator[str]:
    yield from (f"{folder.as_posix()}: {line}" for line in changes)
    if not changes:
        yield f"{folder.as_posix()} {otherwise}"


def _set_version(path: Path, release: str) -> bool:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = _PACKAGE_VERSION.search(text)
    if found is None or found[1].startswith(f"{release}."):
        return False
    replace_file(path, [f"{text[: found.start(1)]}{release}.1{text[found.end(1) :]}".encode()])
    return True


def _refused(specs: Path) -> Iterator[ImpactItem]:
    try:
        definitions.load(specs)
    except SpecError as error:
        yield from (
            ImpactItem(str(each.location), f"{each.message} (the generator rejects this)") for each in error.problems
        )
