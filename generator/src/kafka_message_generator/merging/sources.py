"""Sources of older releases to merge: folders of definitions, and release histories."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from kafka_message_generator.compat import store
from kafka_message_generator.compat.definition_sets import Baseline, baseline, release_sets, set_of_files
from kafka_message_generator.merging.collect import with_older
from kafka_message_generator.spec.model import Message
from kafka_message_generator.spec.source import Location, Problems, SpecError

Files = Callable[[Path], Sequence[Path]]


def with_folders(
    messages: list[Message],
    folders: Sequence[tuple[Path, Location]],
    files_of: Files,
    problems: Problems,
    names: dict[str, str],
) -> list[Message]:
    """Add the versions in other folders to the messages, and the files of added messages to ``names``.

    Each location is the setting or option that names the folder.
    """
    for folder, place in folders:
        try:
            older = _baseline(Path(os.path.normpath(folder)), files_of)
        except store.HistoryError as error:
            problems.error(place, str(error))
            continue
        except SpecError as error:
            problems.found += error.problems
            continue
        before = len(messages)
        messages = with_older(messages, older, problems)
        for message in messages[before:]:
            released = older.versions[message.name]
            below = released[max(released)].source.folders[message.name]
            names[message.location.file] = f"{below}/{message.name}.json".removeprefix("/")
    return messages


def _baseline(folder: Path, files_of: Files) -> Baseline:
    if (folder / store.TABLE).exists():
        return baseline("older releases", list(release_sets(folder)))
    if not folder.exists():
        raise store.HistoryError(f"{folder.as_posix()}: folder or definition not found")
    return baseline(folder.as_posix(), [set_of_files(folder, files_of(folder))])
