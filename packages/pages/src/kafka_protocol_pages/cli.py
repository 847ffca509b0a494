"""The command line ``kafka-protocol-pages``."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.cli import SafeParser, reported
from kafka_message_generator.render.identity import identity_of
from kafka_messages_tools.text import safe
from kafka_protocol_pages.package import Package, PagesError
from kafka_protocol_pages.prose import NONE, Prose, read_prose
from kafka_protocol_pages.samples import Samples, read_samples, read_traffic
from kafka_protocol_pages.site import Site, encoded, files_of, write

PROG = "kafka-protocol-pages"
EXAMPLE = f"example:\n  {PROG} --specs definitions --output site"
ABOUT = (
    "Write a protocol as a static site: every message with its layouts and sample bytes. Needs the generated package."
)
VECTORS, TRAFFIC = Path("packages", "vectors", "src", "kafka_protocol_vectors"), Path("examples", "cluster", "traffic")
CONVERSATIONS = Path("examples", "conversations")


def main(argv: Sequence[str] | None = None) -> int:
    """Write a site. Return 0, or 1 after an error."""
    arguments = _parser().parse_args(argv)
    return reported(lambda: run(arguments))


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = SafeParser(prog=PROG, description=ABOUT, epilog=EXAMPLE, formatter_class=layout)
    parser.add_argument("--version", action="version", version=f"{PROG} {_version()}")
    what = "folder of message definitions (*.json) and their package.toml, or one definition"
    parser.add_argument("--specs", type=Path, required=True, help=what)
    parser.add_argument("--output", type=Path, required=True, help="folder to write the site to")
    what = "import name of the generated package, which must be installed (default: from package.toml)"
    parser.add_argument("--package", metavar="NAME", help=what)
    what = "folder of test vectors (*.jsonl.gz), shown as sample bytes"
    parser.add_argument(
        "--samples",
        type=Path,
        metavar="FOLDER",
        help=f"{what} (default: for Kafka's definitions {VECTORS}, if it exists)",
    )
    what = "folder of recorded connections (NAME.request.bin and NAME.response.bin), shown as sample bytes"
    parser.add_argument(
        "--traffic",
        type=Path,
        metavar="FOLDER",
        help=f"{what} (default: for Kafka's definitions {TRAFFIC}, if it exists)",
    )
    what = "folder of recorded conversations (NAME.toml and captures)"
    parser.add_argument(
        "--conversations",
        type=Path,
        metavar="FOLDER",
        help=f"{what} (default: for Kafka's definitions {CONVERSATIONS}, if it exists)",
    )
    what = "folder whose README.md is added to the site, with all Markdown pages reachable from it"
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help=f"{what}")
    return parser


def _version() -> str:
    try:
        return importlib.metadata.version(PROG)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def run(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    loaded = definitions.load(arguments.specs)
    identity = identity_of(loaded, arguments.package)
    try:
        package = Package(identity.import_name)
        samples = tuple(_samples(arguments, package, is_kafkas=loaded.release is not None))
        release = f"Kafka {loaded.release}" if loaded.release else f"{identity.distribution} {identity.version}"
        title = "Kafka protocol" if loaded.release else f"{identity.distribution} protocol"
        talks = _conversations(arguments, is_kafkas=loaded.release is not None)
        files = files_of(Site(loaded, package, samples, title, release, _prose(arguments, loaded), talks), _progress)
        changed = write(arguments.output, files)
    except PagesError as error:
        print(safe(str(error), lines=True), file=sys.stderr)
        return 1
    size = sum(len(encoded(content)) for content in files.values()) / 1e6
    took = time.monotonic() - started
    print(f"{safe(str(arguments.output))}: {len(files)} files, {size:.1f} MB, {len(changed)} changed, in {took:.1f} s")
    return 0


def _samples(arguments: argparse.Namespace, package: Package, is_kafkas: bool) -> Iterator[tuple[str, Samples]]:
    for named in (arguments.traffic, arguments.samples):
        if named is not None and not named.is_dir():
            raise PagesError(f"{named}: folder not found")
    traffic: Path | None = arguments.traffic or (TRAFFIC if is_kafkas else None)
    vectors: Path | None = arguments.samples or (VECTORS if is_kafkas else None)
    if traffic is not None:
        yield "Bytes of a conversation", read_traffic(traffic, package)
    if vectors is not None:
        yield "Bytes", read_samples(vectors)


def _conversations(arguments: argparse.Namespace, is_kafkas: bool) -> Path | None:
    folder: Path | None = arguments.conversations
    if folder is not None and not folder.is_dir():
        raise PagesError(f"{folder}: folder not found")
    return folder or (CONVERSATIONS if is_kafkas and CONVERSATIONS.is_dir() else None)


def _prose(arguments: argparse.Namespace, loaded: definitions.Definitions) -> Prose:
    if arguments.docs is None:
        return NONE
    return read_prose(arguments.docs, {plan.name for plan in loaded.plans})


def _progress(done: int, count: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {count} messages", end="\n" if done == count else "", file=sys.stderr, flush=True)
