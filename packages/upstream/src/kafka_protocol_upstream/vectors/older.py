"""Vectors of removed message versions, written with the classes of the last release that has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.compat.definition_sets import baseline, release_sets
from kafka_protocol_upstream.kafka.artifacts import FOLDERS, Jars, version_of
from kafka_protocol_upstream.kafka.published import jars_of, published
from kafka_protocol_upstream.vectors.definitions import read_definition
from kafka_protocol_upstream.vectors.java_oracle import older_oracle
from kafka_protocol_upstream.vectors.samples import samples
from kafka_protocol_upstream.vectors.wire import write_frames
from kafka_protocol_upstream.vectors.write import MessageSample, ask, write_cases


def cases_of(specs: Path, history: Path) -> dict[str, list[MessageSample]]:
    """Return samples of removed versions, by the last release that has them. Raises SpecError and HistoryError."""
    own = {plan.name: plan.valid for plan in definitions.load(specs, more=None).plans}
    released = baseline("history", list(release_sets(history))).versions
    found: dict[str, list[MessageSample]] = {}
    for plan in sorted(definitions.load(specs).plans, key=lambda plan: plan.name):
        known = released.get(plan.name, {})
        shift = min(known, default=0) if plan.kind.startswith("coordinator") and plan.name not in own else 0
        for version in plan.valid:
            if plan.name not in own or version not in own[plan.name]:
                last = known[version + shift].source
                release = last.name.removeprefix("Kafka ")
                place = Path(last.messages[plan.name].location.file)
                file = f"{last.folders[plan.name]}/{plan.name}.json"
                found.setdefault(release, []).extend(_cases(place, file, version, shift))
    return found


def _cases(path: Path, file: str, version: int, shift: int) -> Iterator[MessageSample]:
    definition = read_definition(path, file)
    for kind, made in sorted(samples(definition, version + shift), key=lambda sample: sample[0]):
        yield MessageSample(definition, version, kind, made, shift)


def write_older(specs: Path, history: Path, pinned: Jars, work: Path, target: Path) -> dict[str, tuple[int, int]]:
    """Write the vectors and the frames of each older release below ``target``; return their counts.

    ``work`` has the jars of ``import-history``; missing ones are downloaded. Raises ArtifactError, OracleError, SpecError,
    HistoryError.
    """
    versions = published(work)
    counts: dict[str, tuple[int, int]] = {}
    for release, cases in sorted(cases_of(specs, history).items()):
        jars = _jars(release, jars_of(release, versions, work))
        with older_oracle(pinned, jars) as java:
            answers = ask(java, jars, cases)
            counts[release] = len(cases), write_frames(java, jars, cases, target)
        write_cases(cases, answers, target / f"kafka-{release}")
    return counts


def _jars(release: str, paths: list[Path]) -> Jars:
    found = {name: version for name in FOLDERS if (version := version_of(name, paths)) is not None}
    return Jars(release, found, tuple(paths))
