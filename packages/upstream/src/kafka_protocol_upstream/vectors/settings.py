"""The task ``settings``: writes ``settings.json`` from the ConfigDefs in Kafka's classes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.files import replace_file
from kafka_message_generator.spec.annotations import SETTINGS
from kafka_protocol_upstream.kafka.artifacts import BROKER, Jars, resolve
from kafka_protocol_upstream.vectors.java_oracle import ANSWER_SECONDS, OracleError, call, compiled
from kafka_protocol_upstream.vectors.write import pinned_release

ABOUT = "write the table of Kafka's settings, with Kafka's own classes (requires Maven and a JDK)"
SOURCES = Path(__file__).parent / "java_settings"


@dataclass(frozen=True)
class SettingsOracle:
    classpath: str

    def table(self) -> str:
        """Return the settings as a JSON list, one per line, sorted by name, each with its type and owners."""
        printed = self._run("table", "").splitlines()
        lines = ",\n".join(f"  {json.dumps(json.loads(line))}" for line in printed)
        return f"[\n{lines}\n]\n"

    def hidden(self, names: Sequence[str]) -> list[bool]:
        """Return for each setting whether brokers redact its value in their logs."""
        printed = self._run("hidden", "".join(f"{name}\n" for name in names)).split()
        if len(printed) != len(names) or not {"true", "false"} >= {*printed}:
            raise OracleError(f"expected true or false for {len(names)} settings, Java printed {printed[:20]}")
        return [answer == "true" for answer in printed]

    def _run(self, mode: str, lines: str) -> str:
        return call(["java", "-Xmx1g", "-cp", self.classpath, "Settings", mode], ANSWER_SECONDS, lines)


@contextmanager
def settings(jars: Jars) -> Iterator[SettingsOracle]:
    """Compile the Java program against ``jars``, including the broker's. Raises OracleError."""
    with compiled(SOURCES, jars) as classpath:
        yield SettingsOracle(classpath)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--specs", type=Path, default=Path("specs/kafka"), metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument(
        "--work", type=Path, default=Path(".work/settings"), help="folder for jars (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    release = pinned_release(arguments.specs)
    with settings(resolve(release, arguments.work, BROKER)) as java:
        table = java.table()
    replace_file(arguments.specs / SETTINGS, [table.encode()])
    print(f"Kafka {release}: {len(json.loads(table))} settings")
    return 0
