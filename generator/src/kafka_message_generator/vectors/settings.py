"""Writes the table of Kafka's settings, which Kafka's own definitions of them give: ``settings.json``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.release.artifacts import BROKER, ArtifactError, Jars, resolve
from kafka_message_generator.spec.annotations import SETTINGS
from kafka_message_generator.vectors.java_oracle import ANSWER_SECONDS, OracleError, call, compiled
from kafka_message_generator.vectors.write import pinned_release

SOURCES = Path(__file__).parent / "java_settings"


@dataclass(frozen=True)
class Settings:
    """The compiled program, ready to be asked."""

    classpath: str

    def table(self) -> str:
        """Every setting with its type and what has it, as a JSON list, one a line by name."""
        printed = self._run("table", "").splitlines()
        lines = ",\n".join(f"  {json.dumps(json.loads(line))}" for line in printed)
        return f"[\n{lines}\n]\n"

    def hidden(self, names: Sequence[str]) -> list[bool]:
        """Whether a broker keeps the values of settings with these names out of its own log."""
        printed = self._run("hidden", "".join(f"{name}\n" for name in names)).split()
        if len(printed) != len(names) or not {"true", "false"} >= {*printed}:
            raise OracleError(f"Java gave {len(printed)} answers to {len(names)} questions")
        return [answer == "true" for answer in printed]

    def _run(self, mode: str, asked: str) -> str:
        return call(["java", "-Xmx1g", "-cp", self.classpath, "Settings", mode], ANSWER_SECONDS, asked)


@contextmanager
def settings(jars: Jars) -> Iterator[Settings]:
    """Compile the Java program against ``jars``, those of a broker, and lend it. Raises OracleError."""
    with compiled(SOURCES, jars) as classpath:
        yield Settings(classpath)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line of this module; 0 when the table is written, 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m kafka_message_generator.vectors.settings", description=__doc__)
    parser.add_argument("--specs", type=Path, required=True, help="folder of the definitions, with SOURCE in it")
    parser.add_argument("--work", type=Path, required=True, help="folder for the jars of the pinned release")
    arguments = parser.parse_args(argv)
    try:
        release = pinned_release(arguments.specs)
        with settings(resolve(release, arguments.work, BROKER)) as java:
            table = java.table()
        (arguments.specs / SETTINGS).write_text(table, encoding="utf-8", newline="\n")
    except (ArtifactError, OracleError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Kafka {release}: {len(json.loads(table))} settings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
