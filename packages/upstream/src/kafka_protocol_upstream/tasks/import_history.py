"""The task ``import-history``: imports every release from Maven Central into ``specs/history``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kafka_message_generator.compat.store import order
from kafka_protocol_upstream.kafka import history as importer
from kafka_protocol_upstream.kafka.published import jars_of, published

ABOUT = "import the definitions of every Kafka release from its artifacts (requires Maven)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", type=Path, default=Path("specs/history"), help="target (default: %(default)s)")
    what = "folder for the KIPs of all versions, kips.json (default: %(default)s)"
    parser.add_argument("--specs", type=Path, default=Path("specs/kafka"), help=what)
    parser.add_argument(
        "--work", type=Path, default=Path(".work/history"), help="folder for downloads (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import every release; existing jars are not downloaded again."""
    versions = published(arguments.work)
    first = order(importer.FIRST)
    releases = [version for version in versions["kafka-clients"] if order(version) >= first]
    jars = {}
    for number, release in enumerate(releases, 1):
        if sys.stderr.isatty():
            print(f"\rKafka {release} ({number} of {len(releases)})   ", end="", file=sys.stderr, flush=True)
        jars[release] = jars_of(release, versions, arguments.work)
    changes = importer.import_history(jars, arguments.to, lambda line: print(line, file=sys.stderr), arguments.specs)
    print("\n".join(changes) or f"{arguments.to} already has every release up to {releases[-1]}")
    return 0
