"""Writes the vectors of what only older releases have, by the classes of the last release that had it.

python -m kafka_message_generator.vectors.older --specs specs/kafka --jars JARS --work HISTORY --target tests/vectors
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.compat.sides import baseline, sides_of
from kafka_message_generator.release.artifacts import FOLDERS, ArtifactError, Jars, resolve, version_of
from kafka_message_generator.release.published import jars_of, published
from kafka_message_generator.spec.source import SpecError
from kafka_message_generator.vectors.definitions import read_definition
from kafka_message_generator.vectors.java_oracle import OracleError, older_oracle
from kafka_message_generator.vectors.samples import samples
from kafka_message_generator.vectors.write import Case, ask, jars_in, pinned_release, write_cases


def cases_of(specs: Path, history: Path) -> dict[str, list[Case]]:
    """The samples of every version that only older releases have, by the last release that had it.

    Raises SpecError and HistoryError.
    """
    own = {plan.name: plan.valid for plan in definitions.load(specs, more=None).plans}
    released = baseline("history", list(sides_of(history))).versions
    found: dict[str, list[Case]] = {}
    for plan in sorted(definitions.load(specs).plans, key=lambda plan: plan.name):
        known = released.get(plan.name, {})
        shift = min(known, default=0) if plan.kind.startswith("coordinator") and plan.name not in own else 0
        for version in plan.valid:
            if plan.name not in own or version not in own[plan.name]:
                last = known[version + shift].side
                release = last.name.removeprefix("Kafka ")
                place = Path(last.messages[plan.name].location.file)
                file = f"{last.folders[plan.name]}/{plan.name}.json"
                found.setdefault(release, []).extend(_cases(place, file, version, shift))
    return found


def _cases(path: Path, file: str, version: int, shift: int) -> Iterator[Case]:
    definition = read_definition(path, file)
    for kind, made in sorted(samples(definition, version + shift), key=lambda sample: sample[0]):
        yield Case(definition, version, kind, made, shift)


def write_older(specs: Path, history: Path, pinned: Jars, work: Path, target: Path) -> dict[str, int]:
    """Write ``kafka-<release>/<folder>.jsonl.gz`` below ``target`` for each of these releases; how many vectors each has.

    ``work`` is where ``import-history`` keeps its jars. Raises ArtifactError, OracleError, SpecError, HistoryError.
    """
    versions, counts = published(work), {}
    for release, cases in sorted(cases_of(specs, history).items()):
        jars = _jars(release, jars_of(release, versions, work))
        with older_oracle(pinned, jars) as java:
            answers = ask(java, jars, cases)
        write_cases(cases, answers, target / f"kafka-{release}")
        counts[release] = len(cases)
    return counts


def _jars(release: str, paths: list[Path]) -> Jars:
    found = {name: version for name in FOLDERS if (version := version_of(name, paths)) is not None}
    return Jars(release, found, tuple(paths))


def main(argv: Sequence[str] | None = None) -> int:
    """Command line of this module; 0 when everything is written, 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m kafka_message_generator.vectors.older", description=__doc__)
    parser.add_argument("--specs", type=Path, required=True, help="folder of the definitions, with SOURCE in it")
    parser.add_argument("--history", type=Path, default=Path("specs/history"), help="the history: %(default)s")
    parser.add_argument("--jars", type=Path, help="folder that has all jars of the pinned release already")
    parser.add_argument("--work", type=Path, required=True, help="folder for the jars of older releases")
    parser.add_argument("--target", type=Path, required=True, help="folder of the vectors")
    arguments = parser.parse_args(argv)
    try:
        release = pinned_release(arguments.specs)
        pinned = jars_in(arguments.jars, release) if arguments.jars else resolve(release, arguments.work / "pinned")
        counts = write_older(arguments.specs, arguments.history, pinned, arguments.work, arguments.target)
    except (ArtifactError, OracleError, SpecError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(", ".join(f"Kafka {release}: {count} vectors" for release, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
