"""The task ``import-specs``: imports the definitions of one release."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kafka_protocol_upstream.kafka.definitions import import_specs
from kafka_protocol_upstream.kafka.published import resolve_any
from kafka_protocol_upstream.vectors.write import write_errors

ABOUT = "import the definitions of a Kafka release from its artifacts (requires Maven and a JDK)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", help="for example 4.4.0")
    what = "folder of the definitions (default: %(default)s)"
    parser.add_argument("--target", "--specs", dest="specs", type=Path, default=Path("specs/kafka"), help=what)
    parser.add_argument("--work", type=Path, help="folder for the downloaded jars (default: .work/jars-RELEASE)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    jars = resolve_any(arguments.release, arguments.work or Path(f".work/jars-{arguments.release}"))
    changes = import_specs(jars, arguments.specs)
    write_errors(jars, arguments.specs / "errors.json")
    for artifact, version in jars.versions.items():
        if version != jars.release:
            print(f"{artifact} {jars.release} was not published; its definitions come from {version}", file=sys.stderr)
    print("\n".join(changes) or f"{arguments.specs} already has the definitions of Kafka {jars.release}")
    return 0
