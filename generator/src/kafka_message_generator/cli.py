"""The command line ``kafka-message-generator``: its subcommands, and how they end."""

from __future__ import annotations

import argparse
import importlib.metadata
import shlex
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from kafka_message_generator import definitions, output
from kafka_message_generator.cost import command as cost_command
from kafka_message_generator.evolution import command as evolution_command
from kafka_message_generator.history import command as history_command
from kafka_message_generator.pages import command as pages_command
from kafka_message_generator.protocol import command as protocol_command
from kafka_message_generator.render import package
from kafka_message_generator.render.identity import RequestError, identity_of
from kafka_message_generator.renewal import command as renewal_command
from kafka_message_generator.spec.parts import OPTIONAL
from kafka_message_generator.spec.source import SpecError
from kafka_message_generator.spec.texts import part_problem

PROG = "kafka-message-generator"
EXAMPLES = {
    "generate": f"{PROG} generate --specs definitions --output package --package invoices",
    "check": f"{PROG} check --specs definitions --output package",
    "cost": cost_command.EXAMPLE,
    "evolution": evolution_command.EXAMPLE,
    "import-history": history_command.EXAMPLE,
    "import-release": renewal_command.EXAMPLE,
    "pages": pages_command.EXAMPLE,
    "protocol": protocol_command.EXAMPLE,
    "import-specs": f"{PROG} import-specs 2.8.2 --target kafka-2.8 --work .work/jars",
}


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 1 with the reason on standard error."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except SpecError as error:
        print(error, file=sys.stderr)
        print(f"{len(error.problems)} problem(s); nothing was generated", file=sys.stderr)
        return 1
    except RequestError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        print(f"{place}{error.strerror or error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROG, description="Typed Python classes for messages in Kafka's format.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, about in (
        ("generate", _generate, "write the package for a folder of definitions"),
        ("check", _check, "compare a package with its definitions: a diff and exit code 1 if they differ"),
    ):
        command = _add(commands, name, about)
        what = (
            "folder of message definitions (*.json) and their package.toml, or one definition; given again: those of "
        )
        what += "another release, whose versions the package has as well where they are proved to agree"
        command.add_argument("--specs", type=Path, action="append", required=True, metavar="FOLDER", help=what)
        command.add_argument("--output", type=Path, required=True, help="folder of the generated package")
        command.add_argument("--package", metavar="NAME", help="import name (default: what package.toml says)")
        what = f"optional parts with commas between them, of {', '.join(OPTIONAL)}"
        what += " (default: what package.toml says, or those that the messages call for)"
        command.add_argument("--parts", type=_part_names, metavar="NAMES", help=what)
        command.add_argument("--warnings", action="store_true", help="show the accepted warnings, too")
        command.set_defaults(run=run)
    evolution_command.add_arguments(_add(commands, "evolution", evolution_command.ABOUT))
    pages_command.add_arguments(_add(commands, "pages", pages_command.ABOUT))
    protocol_command.add_arguments(_add(commands, "protocol", protocol_command.ABOUT))
    _release_commands(commands)
    cost_command.add_to(commands)
    return parser


def _add(commands: Commands, name: str, about: str) -> argparse.ArgumentParser:
    """One more command, with an example that can be copied from its help as a line."""
    layout = argparse.RawDescriptionHelpFormatter
    example = f"example:\n  {EXAMPLES[name]}"
    return commands.add_parser(name, help=about, description=about, epilog=example, formatter_class=layout)


class _Version(argparse.Action):
    """Says which generator this is, by what is installed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        try:
            print(PROG, importlib.metadata.version(PROG))
        except importlib.metadata.PackageNotFoundError:
            print(PROG, "of this folder, which is not installed")
        parser.exit()


def _part_names(text: str) -> tuple[str, ...]:
    """The names of parts in an argument; an empty one is for none."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if (reason := part_problem(name)) is not None:
            raise argparse.ArgumentTypeError(reason)
    return names


def _release_commands(commands: Commands) -> None:
    about = "take the definitions of a Kafka release from its artifacts"
    command = _add(commands, "import-specs", about)
    command.add_argument("release", help="for example 4.4.0")
    what = "where definitions go: %(default)s"
    command.add_argument("--target", "--specs", dest="specs", type=Path, default=Path("specs/kafka"), help=what)
    command.add_argument("--work", type=Path, required=True, help="folder for the downloaded jars")
    command.set_defaults(run=_import_specs)
    history_command.add_arguments(_add(commands, "import-history", history_command.ABOUT))
    renewal_command.add_arguments(_add(commands, "import-release", renewal_command.ABOUT))


def _request(arguments: argparse.Namespace) -> package.PackageRequest:
    specs, *more = arguments.specs
    return package.PackageRequest(specs, arguments.output, arguments.package, arguments.parts, tuple(more))


def _rendered(arguments: argparse.Namespace, request: package.PackageRequest, used: dict[str, str]) -> dict[str, str]:
    """The files of a package whose manifest names the tools that were ``used``; warnings and progress are shown."""
    loaded = definitions.load(request.specs, request.parts, partial(output.check_owner, request), request.more)
    for warning in (*loaded.warnings, *(loaded.accepted if arguments.warnings else ())):
        print(warning, file=sys.stderr)
    identity = identity_of(loaded, request.package)
    output.check_folder(request.output)
    files = package.render(identity, loaded, _progress)
    files[package.MANIFEST] = package.manifest(request, identity, files, used)
    return files


def _progress(done: int, count: int) -> None:
    """Show how many modules are printed, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{done} of {count} modules", end="\n" if done == count else "", file=sys.stderr, flush=True)


def _generate(arguments: argparse.Namespace) -> int:
    request = _request(arguments)
    started = time.monotonic()
    if output.is_current(request):
        print(f"{request.output} is up to date")
        return 0
    files = _rendered(arguments, request, package.tools())
    changed = output.write(request.output, files)
    print(f"{request.output}: {len(files)} files, {len(changed)} changed, in {time.monotonic() - started:.1f} s")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    request = _request(arguments)
    files = _rendered(arguments, request, output.tools_of(request.output))
    if note := output.other_tools(request.output):
        print(note, file=sys.stderr)
    lines = list(output.difference(request.output, files))
    sys.stdout.writelines(lines)
    if lines:
        what = f"{request.output} differs from what its definitions give; write it anew"
        print(f"{what}: {_generating(request)}", file=sys.stderr)
        return 1
    print(f"{request.output} is what its definitions give")
    return 0


def _generating(request: package.PackageRequest) -> str:
    """The command that writes a package, to be copied into a shell."""
    specs = [word for folder in (request.specs, *request.more) for word in ("--specs", str(folder))]
    words = [PROG, "generate", *specs, "--output", str(request.output)]
    if request.package is not None:
        words += ["--package", request.package]
    if request.parts is not None:
        words += ["--parts", ",".join(request.parts)]
    return shlex.join(words)


def _import_specs(arguments: argparse.Namespace) -> int:
    from kafka_message_generator.release.artifacts import ArtifactError
    from kafka_message_generator.release.importer import ImportSpecsError, import_specs
    from kafka_message_generator.release.published import resolve_any
    from kafka_message_generator.vectors.java_oracle import OracleError
    from kafka_message_generator.vectors.write import write_errors

    try:
        jars = resolve_any(arguments.release, arguments.work)
        changes = import_specs(jars, arguments.specs)
        write_errors(jars, arguments.specs / "errors.json")
    except (ArtifactError, ImportSpecsError, OracleError) as error:
        print(error, file=sys.stderr)
        return 1
    for artifact, version in jars.versions.items():
        if version != jars.release:
            print(f"{artifact} has no release {jars.release}; taken from {version}", file=sys.stderr)
    print("\n".join(changes) or f"the definitions of {jars.release} are already here")
    return 0
