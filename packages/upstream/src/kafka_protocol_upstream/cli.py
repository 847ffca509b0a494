"""The command line ``python -m kafka_protocol_upstream``, with a subcommand for each task."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from kafka_message_generator.compat.store import HistoryError
from kafka_message_generator.spec.source import SpecError
from kafka_protocol_upstream.kafka.artifacts import ArtifactError
from kafka_protocol_upstream.kafka.definitions import ImportSpecsError
from kafka_protocol_upstream.publish import doc_commands, trials
from kafka_protocol_upstream.tasks import import_history, import_release, import_specs, publish, vectors
from kafka_protocol_upstream.vectors import enumerations, exchange, settings
from kafka_protocol_upstream.vectors.java_oracle import OracleError

PROG = "python -m kafka_protocol_upstream"
TASKS = {
    "import-specs": import_specs,
    "import-release": import_release,
    "import-history": import_history,
    "vectors": vectors,
    "enumerations": enumerations,
    "settings": settings,
    "exchange": exchange,
    "publish": publish,
    "trial": trials,
    "doc-commands": doc_commands,
}
ERRORS = (ArtifactError, HistoryError, ImportSpecsError, OracleError, SpecError, ValueError, OSError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one task. Return its exit status, or 1 after an error."""
    parser = argparse.ArgumentParser(prog=PROG, description="Tasks for maintainers; run them in the top folder.")
    tasks = parser.add_subparsers(required=True, metavar="TASK")
    for name, task in TASKS.items():
        task.add_arguments(tasks.add_parser(name, help=task.ABOUT, description=task.ABOUT))
    arguments = parser.parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except ERRORS as error:
        print(error, file=sys.stderr)
        return 1
    return code
