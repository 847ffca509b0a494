"""The task ``enumerations``: updates ``enumerations.json`` and ``errors.json`` with Kafka's classes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_message_generator.files import replace_file
from kafka_message_generator.spec.annotations import ENUMERATIONS, ERRORS
from kafka_protocol_upstream.kafka.artifacts import BROKER, Jars, resolve
from kafka_protocol_upstream.vectors.java_oracle import ANSWER_SECONDS, OracleError, call, compiled
from kafka_protocol_upstream.vectors.write import jars_in, pinned_release, write_errors

ABOUT = "update enumerations and error codes, with Kafka's own classes (requires Maven and a JDK)"
SOURCES = Path(__file__).parent / "java_enumerations"
OF_ENTRY = ("name", "about", "class", "value", "source", "special", "members", "fields")
OF_MEMBER = ("name", "value", "constant", "about")
Entry = dict[str, Any]


@dataclass(frozen=True)
class Enumerations:
    classpath: str

    def updated(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the enumerations with current names and values. Raises OracleError for an unknown Java name.

        An enumeration with a ``class`` gets the members of that Java enum; a member with a ``constant`` gets the constant's
        value.
        """
        questions = [line for entry in entries for line in _questions(entry)]
        command = ["java", "-Xmx1g", "-cp", self.classpath, "Enumerations"]
        printed = call(command, ANSWER_SECONDS, "".join(f"{line}\n" for line in questions)).splitlines()
        if len(printed) != len(questions):
            raise OracleError(f"Java returned {len(printed)} answers to {len(questions)} questions")
        answers = dict(zip(questions, map(json.loads, printed), strict=True))
        return [_updated(entry, answers) for entry in sorted(entries, key=lambda entry: str(entry["name"]))]


@contextmanager
def enumerations(jars: Jars) -> Iterator[Enumerations]:
    """Compile the Java program against ``jars``, including the broker's. Raises OracleError."""
    with compiled(SOURCES, jars) as classpath:
        yield Enumerations(classpath)


def _questions(entry: Entry) -> Iterator[str]:
    if "class" in entry:
        yield f"{entry['class']} {entry['value']}"
    yield from (_constant(member) for member in entry.get("members", ()) if "constant" in member)


def _constant(member: Entry) -> str:
    owner, _, name = member["constant"].rpartition(".")
    return f"{owner} {name}"


def _updated(entry: Entry, answers: dict[str, dict[str, int | str]]) -> Entry:
    if "members" not in entry:  # error codes and APIs have their own files
        return entry
    known = {member["name"]: member for member in entry["members"]}
    values = {name: member["value"] for name, member in known.items() if "value" in member and "class" not in entry}
    values |= {
        name: answer for name, member in known.items() if "constant" in member for answer in _only(member, answers)
    }
    if "class" in entry:
        values |= answers[f"{entry['class']} {entry['value']}"]
    updated = [known.get(name, {}) | {"name": name, "value": value} for name, value in values.items()]
    members = [_ordered(member, OF_MEMBER) for member in sorted(updated, key=lambda member: member["value"])]
    return _ordered(entry | {"members": members}, OF_ENTRY)


def _only(member: Entry, answers: dict[str, dict[str, int | str]]) -> Iterable[int | str]:
    return answers[_constant(member)].values()


def _ordered(entry: Entry, order: Sequence[str]) -> Entry:
    return {key: entry[key] for key in order if key in entry}


def render(entries: Sequence[Entry]) -> str:
    """Format ``enumerations.json``: a line for each member, and for each message with its fields."""
    return "[\n" + ",\n".join(map(_entry, entries)) + "\n]\n"


def _entry(entry: Entry) -> str:
    lines = [f"    {json.dumps(key)}: {_value(entry[key])}" for key in entry]
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _value(value: object) -> str:
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"      {json.dumps(each, ensure_ascii=False)}" for each in value) + "\n    ]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--specs", type=Path, default=Path("specs/kafka"), metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument("--jars", type=Path, metavar="FOLDER", help="existing jars of the pinned release")
    parser.add_argument(
        "--work", type=Path, default=Path(".work/settings"), help="folder for jars (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    path = arguments.specs / ENUMERATIONS
    release = pinned_release(arguments.specs)
    jars = jars_in(arguments.jars, release) if arguments.jars else resolve(release, arguments.work, BROKER)
    with enumerations(jars) as java:
        found = java.updated(json.loads(path.read_text(encoding="utf-8")))
    replace_file(path, [render(found).encode()])
    errors = write_errors(jars, arguments.specs / ERRORS)
    print(f"Kafka {release}: {len(found)} enumerations, {errors} error codes")
    return 0
