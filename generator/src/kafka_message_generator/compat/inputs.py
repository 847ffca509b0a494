"""Inputs of a comparison: a folder, a Git revision, a release of the history, or the whole history."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kafka_message_generator.compat import store
from kafka_message_generator.compat.definition_sets import (
    Baseline,
    DefinitionSet,
    baseline,
    release_sets,
    set_of_release,
)
from kafka_message_generator.compat.report import CompatReport
from kafka_message_generator.spec.source import Location, SpecError

GIT, RELEASE, HISTORY = "git:", "release:", "history"
KINDS = "a folder, git:REF, git:REF:FOLDER, release:VERSION or history"
SPECS = "specs/kafka"
TIMEOUT_SECONDS = 300


ReadFolder = Callable[[Path], DefinitionSet]
"""Loads and checks the definitions of a folder. Raises SpecError."""


class CompatInputError(Exception):
    """Raised for inputs that cannot be read or compared."""


def sets_of_words(
    old: str, new: str, history: Path, read_folder: ReadFolder, repository: Path | None = None
) -> tuple[Baseline, DefinitionSet]:
    """Return the definitions that the arguments ``--old`` and ``--new`` name. Raises CompatInputError and SpecError.

    A Git revision without a folder uses the folder of the other argument, or ``SPECS``. Revisions are of ``repository``,
    or else of the repository with that folder.
    """
    for word in (old, new):
        if (word == HISTORY or word.startswith(RELEASE)) and not (history / store.TABLE).exists():
            what = f"{word}: no history of Kafka's releases in {history.as_posix()}"
            raise CompatInputError(f"{what}; run this in a clone of the generator, or name the folder with --history")
    after = _side_of(new, old, history, read_folder, repository)
    if old != HISTORY:
        before = _side_of(old, new, history, read_folder, repository)
        return baseline(before.name, [before]), after
    try:
        return baseline(f"every release in {history.as_posix()}", list(release_sets(history))), after
    except store.HistoryError as error:
        raise CompatInputError(str(error)) from None


def placed(report: CompatReport, *sets: DefinitionSet) -> CompatReport:
    findings = report.findings
    for definition_set in sets:
        findings = tuple(replace(each, location=_placed(each.location, definition_set.unpacked)) for each in findings)
    return replace(report, findings=findings)


def _placed(location: Location, unpacked: str) -> Location:
    return replace(location, file=location.file.removeprefix(unpacked))


def _side_of(text: str, other: str, history: Path, read_folder: ReadFolder, repository: Path | None) -> DefinitionSet:
    if text == HISTORY:
        raise CompatInputError(f"{HISTORY} contains several releases; name one, for example release:4.3.0")
    if text.startswith(GIT):
        return _side_of_git(text, other, read_folder, repository)
    if text.startswith(RELEASE):
        release = text.removeprefix(RELEASE)
        if not release:
            raise CompatInputError(f"{text}: no release given; write for example {RELEASE}4.3.0")
        try:
            return set_of_release(history, release)
        except store.HistoryError as error:
            raise CompatInputError(str(error)) from None
    folder = Path(text)
    if not folder.exists():
        raise CompatInputError(f"{text}: folder not found; give {KINDS}")
    return read_folder(folder)


def _side_of_git(text: str, other: str, read_folder: ReadFolder, repository: Path | None) -> DefinitionSet:
    folder = _folder_of(text)
    if not folder and other.startswith(GIT):
        folder = _folder_of(other)
    beside = Path(SPECS if other == HISTORY or other.startswith((GIT, RELEASE)) else other)
    if not folder:
        where = repository or (beside.parent if beside.is_file() else beside)
        folder = _inside(beside, _top(where if where.is_dir() else Path.cwd(), text), text)
        repository = repository or where
    with unpacked(text, folder, repository) as (inside, root):
        try:
            return replace(read_folder(inside), name=text, unpacked=root)
        except SpecError as error:
            problems = [replace(each, location=_placed(each.location, root)) for each in error.problems]
            raise SpecError(problems) from None


def _folder_of(text: str) -> str:
    return text.removeprefix(GIT).partition(":")[2]


def _top(where: Path, text: str) -> Path:
    return Path(_git(["rev-parse", "--show-toplevel"], where, text).decode().strip())


@contextmanager
def unpacked(text: str, folder: str = "", repository: Path | None = None) -> Iterator[tuple[Path, str]]:
    """Unpack ``git:REF:FOLDER`` into a temporary folder; yield the folder, and the prefix to strip from its paths.

    ``folder`` overrides FOLDER; ``repository`` is a folder of the repository (default: the current folder). Raises
    CompatInputError.
    """
    ref, inside = text.removeprefix(GIT).partition(":")[0], folder or _folder_of(text)
    if not ref or ref.startswith("-"):
        raise CompatInputError(f"{text}: expected a revision; write for example {GIT}main")
    if repository is not None and not repository.is_dir():
        raise CompatInputError(f"{repository.as_posix()}: folder not found; name a Git repository with --repository")
    top = _top(repository or Path.cwd(), text)
    packed = _git(["archive", "--format=tar", ref, "--", inside or "."], top, text)
    with tempfile.TemporaryDirectory() as target:
        try:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(target, filter="data")
        except tarfile.TarError as error:
            raise CompatInputError(f"{text}: cannot unpack the output of git archive: {error}") from None
        yield Path(target, inside), f"{Path(target).as_posix()}/"


def _inside(beside: Path, top: Path, text: str) -> str:
    try:
        return beside.resolve().relative_to(top).as_posix()
    except ValueError:
        raise CompatInputError(
            f"{text}: {beside.as_posix()} is not in {top.as_posix()}; name the folder as {text}:FOLDER"
        ) from None


def _git(words: list[str], where: Path, text: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=where, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except FileNotFoundError:
        raise CompatInputError(f"{text}: git is required; install it") from None
    except subprocess.TimeoutExpired:
        raise CompatInputError(f"{text}: git {words[0]} timed out after {TIMEOUT_SECONDS} seconds") from None
    if done.returncode != 0:
        raise CompatInputError(f"{text}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
