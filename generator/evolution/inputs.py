"""What can be compared: a folder, a state in git, a release of the history, or the whole history."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.history import store
from kafka_message_generator.history.sides import Baseline, Side, baseline, side_of_release, sides_of

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
        try:
            return baseline(f"every release in {history.as_posix()}", list(sides_of(history)))
        except store.HistoryError as error:
            raise InputError(str(error)) from None
    side = side_of(text, beside, history)
    return baseline(side.name, [side])


def side_of(text: str, beside: Path, history: Path) -> Side:
    """One side, by a word of the command line; raises InputError and SpecError."""
    if text == HISTORY:
        raise InputError(f"{HISTORY} is many releases; name one of them, such as release:4.3.0")
    if text.startswith(GIT):
        return _side_of_git(text, beside)
    if text.startswith(RELEASE):
        release = text.removeprefix(RELEASE)
        if not release:
            raise InputError(f"{text}: names no release; write for example {RELEASE}4.3.0")
        try:
            return side_of_release(history, release)
        except store.HistoryError as error:
            raise InputError(str(error)) from None
    folder = Path(text)
    if not folder.exists():
        raise InputError(f"{text}: there is no such folder; give {KINDS}")
    return side_of_folder(folder)


def side_of_folder(specs: Path, name: str | None = None) -> Side:
    """The definitions below a folder; raises SpecError with every problem."""
    loaded = definitions.load(specs, more=None)  # the versions of older releases are what it is compared with
    messages = {message.name: message for message in loaded.messages}
    return Side(name or specs.as_posix(), messages, {plan.name: plan for plan in loaded.plans})


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
