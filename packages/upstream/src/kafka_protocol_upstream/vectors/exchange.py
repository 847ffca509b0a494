"""The task ``exchange``: Kafka's classes of neighboring releases read the bytes of docs/history.md."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from kafka_message_generator.compat.definition_sets import DefinitionSet, baseline, release_sets
from kafka_message_generator.compat.findings import CompatFinding, Direction
from kafka_message_generator.compat.report import compare
from kafka_message_generator.spec.model import HEADER, REQUEST, RESPONSE

ABOUT = "check the example bytes of docs/history.md with Kafka's own classes (requires a JDK)"
PROGRAM = Path(__file__).parent / "java_exchange" / "Exchange.java"
TIMEOUT_SECONDS = 120


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--history", type=Path, default=Path("specs/history"), metavar="FOLDER", help="default: %(default)s"
    )
    what = "folder of the jars of import-history (default: %(default)s)"
    parser.add_argument("--jars", type=Path, default=Path(".work/history"), metavar="FOLDER", help=what)
    parser.set_defaults(run=lambda arguments: run(arguments.jars, arguments.history))


def run(jars: Path, history: Path) -> int:
    """Check every witness. Return 0, 1 if Kafka's classes do not confirm all of them, or 2 without jars."""
    if not any(jars.glob("*/*.jar")):
        print(
            f"{jars} has no jars of Kafka's releases: run nox -s upstream -- import-history first",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as compiled:
        subprocess.run(["javac", "-d", compiled, str(PROGRAM)], check=True, timeout=TIMEOUT_SECONDS)
        wrong, count = [], 0
        for before, definition_set in pairwise(release_sets(history)):
            for finding, writer, reader, data in exchanges(before, definition_set):
                count += 1
                own, other = (verdict(finding, each, data, jars, compiled) for each in (writer, reader))
                if not own.startswith(f"again {data.hex()} ") or other == own:
                    wrong.append(
                        f"{definition_set.name} {finding.place} {data.hex()}: {writer.name}: {own}; {reader.name}: {other}"
                    )
                else:
                    print(
                        f"{definition_set.name}: {finding.place}: {writer.name} writes {data.hex()}, {reader.name}: {other}"
                    )
    print("\n".join(wrong))
    print(f"{count} witnesses, {len(wrong)} not confirmed")
    return int(bool(wrong))


def exchanges(
    before: DefinitionSet, definition_set: DefinitionSet
) -> Iterator[tuple[CompatFinding, DefinitionSet, DefinitionSet, bytes]]:
    """Yield each wire finding between two releases with the writer and the reader of its witness."""
    for finding in compare(baseline(before.name, [before]), definition_set).findings:
        if finding.level == "wire":
            for direction, writer, reader in (
                (finding.new_reads_old, before, definition_set),
                (finding.old_reads_new, definition_set, before),
            ):
                if isinstance(direction, Direction) and direction.witness is not None:
                    yield finding, writer, reader, direction.witness.data


def verdict(finding: CompatFinding, definition_set: DefinitionSet, data: bytes, jars: Path, compiled: str) -> str:
    folder = jars / definition_set.name.removeprefix("Kafka ")
    kind = definition_set.messages[finding.message].kind
    name = finding.message + ("Data" if kind in (REQUEST, RESPONSE, HEADER) else "")
    line = f"{classes(folder)[name]} {finding.versions[0]} {data.hex()}\n"
    path = ":".join([compiled, *map(str, sorted(folder.glob("*.jar")))])
    done = subprocess.run(
        ["java", "-cp", path, "Exchange"],
        input=line,
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_SECONDS,
    )
    return done.stdout.strip()


@cache
def classes(folder: Path) -> dict[str, str]:
    found = {}
    for jar in sorted(folder.glob("*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if re.search(r"/(message|metadata|generated)/[A-Za-z]+\.class$", name):
                    found[name.rpartition("/")[2].removesuffix(".class")] = name.removesuffix(".class").replace(
                        "/", "."
                    )
    return found
