"""What can be compared: a folder, a state in git, a release of the history, or the whole history."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kafka_message_generator import rules
from kafka_message_generator.evolution.side import Baseline, Side, baseline, side_of_folder
from kafka_message_generator.history import store
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec import reader, source
from kafka_message_generator.spec.model import Message
from kafka_message_generator.spec.source import Problems, SpecError

GIT, RELEASE, HISTORY = "git:", "release:", "history"
KINDS = "a folder, git:REF, git:REF:FOLDER, release:VERSION or history"
TIMEOUT_SECONDS = 300


class InputError(Exception):
    """What is to be compared cannot be obtained; the text says which and why. Never to be taken for compatible."""


def baseline_of(text: str, beside: Path, history: Path) -> Baseline:
    """What was released, by a word of the command line. ``beside`` is the folder that git's other state is of.

    Raises InputError, and SpecError for definitions that are not sound.
    """
    if text == HISTORY:
        return baseline(f"every release in {history.as_posix()}", list(sides_of_history(history)))
    return baseline(text, [side_of(text, beside, history)])


def side_of(text: str, beside: Path, history: Path) -> Side:
    """One side, by a word of the command line; raises InputError and SpecError."""
    if text == HISTORY:
        raise InputError(f"{HISTORY} is many releases; name one of them, such as release:4.3.0")
    if text.startswith(GIT):
        return _side_of_git(text, beside)
    if text.startswith(RELEASE):
        return side_of_release(history, text.removeprefix(RELEASE))
    folder = Path(text)
    if not folder.exists():
        raise InputError(f"{text}: there is no such folder; give {KINDS}")
    return side_of_folder(folder)


def sides_of_history(root: Path) -> Iterator[Side]:
    """Every release of a history, from the oldest to the newest."""
    for release, found in _history(root).walk():
        yield _side(release, found)


def side_of_release(root: Path, release: str) -> Side:
    """One release of a history."""
    try:
        return _side(release, _history(root).definitions(release))
    except store.HistoryError as error:
        raise InputError(str(error)) from None


def _history(root: Path) -> store.History:
    try:
        return store.read(root)
    except store.HistoryError as error:
        raise InputError(str(error)) from None


def _side(release: str, found: dict[str, store.Definition]) -> Side:
    loaded = {name: _loaded(definition.path) for name, definition in found.items()}
    messages = {name: message for name, (message, _) in loaded.items()}
    plans = {name: plan for name, (_, plan) in loaded.items() if plan is not None}
    return Side(f"Kafka {release}", messages, plans)


@cache
def _loaded(path: Path) -> tuple[Message, MessagePlan | None]:
    """A definition of the history with its plan; what a release once published is checked alone, not with its partner."""
    problems = Problems()
    node = source.load(path, path.as_posix(), problems)
    message = reader.read_message(node, problems) if node is not None else None
    if message is None:
        raise SpecError(problems.errors)
    checked = rules.check([message], problems, [message.name])[0]
    of_itself = [problem for problem in problems.errors if " has no request; " not in problem.message]
    if of_itself:
        raise SpecError(of_itself)
    return message, None if message.is_removed else builder.build(checked, path.name)


def _side_of_git(text: str, beside: Path) -> Side:
    ref, _, folder = text.removeprefix(GIT).partition(":")
    if not ref or ref.startswith("-"):
        raise InputError(f"{text}: names no state; write for example {GIT}main")
    path = folder or beside.as_posix()
    where = Path.cwd() if folder else beside.parent if beside.is_file() else beside
    top = Path(_git(["rev-parse", "--show-toplevel"], where if where.is_dir() else Path.cwd(), text).decode().strip())
    inside = path if folder else beside.resolve().relative_to(top).as_posix()
    packed = _git(["archive", "--format=tar", ref, "--", inside], top, text)
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(unpacked, filter="data")
        return side_of_folder(Path(unpacked, inside), text)


def _git(words: list[str], where: Path, text: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=where, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except FileNotFoundError:
        raise InputError(f"{text}: git is needed to look at it; install it first") from None
    if done.returncode != 0:
        raise InputError(f"{text}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
