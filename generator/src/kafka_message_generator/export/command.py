"""The command ``export``: writes ``protocol.json`` and its JSON Schema."""

from __future__ import annotations

import argparse
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.export.document import document, text
from kafka_message_generator.files import replace_file
from kafka_message_generator.spec.source import tell

ABOUT = "write the whole protocol as data for other languages: protocol.json and its JSON Schema"
EXAMPLE = "kafka-message-generator export --specs specs/kafka --output .work/protocol"
DOCUMENT, SCHEMA = "protocol.json", "protocol.schema.json"
SCHEMA_FILE = Path(__file__).parent / SCHEMA


def add_arguments(command: argparse.ArgumentParser) -> None:
    what = "folder of message definitions (*.json), or one definition"
    command.add_argument("--specs", type=Path, required=True, help=what)
    command.add_argument("--output", type=Path, required=True, help="folder of the two files, created if missing")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    written = write(arguments.specs, arguments.output)
    sizes = ", ".join(f"{path.name} {path.stat().st_size:,} bytes" for path in written)
    tell(f"{arguments.output}: {sizes}")
    return 0


def write(specs: Path, output: Path) -> tuple[Path, Path]:
    """Write both files into a folder and return their paths. Raises SpecError and OSError."""
    found = text(document(definitions.load(specs)))
    output.mkdir(parents=True, exist_ok=True)
    files = output / DOCUMENT, output / SCHEMA
    replace_file(files[0], [found.encode("ascii")])
    replace_file(files[1], [SCHEMA_FILE.read_text(encoding="utf-8").encode()])
    return files
