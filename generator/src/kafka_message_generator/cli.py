"""The command line ``kafka-message-generator``."""

from __future__ import annotations

import argparse
import importlib.metadata
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from kafka_message_generator import definitions, output
from kafka_message_generator.compat import command as compat_command
from kafka_message_generator.cost import command as cost_command
from kafka_message_generator.cost.samples import CostError
from kafka_message_generator.export import command as export_command
from kafka_message_generator.render import package
from kafka_message_generator.render.identity import IdentityError, identity_of
from kafka_message_generator.spec.components import OPTIONAL, component_problem
from kafka_message_generator.spec.model import REQUEST, RESPONSE
from kafka_message_generator.spec.source import SpecError, printable, tell

PROG = "kafka-message-generator"
EXAMPLES = {
    "generate": f"{PROG} generate --specs definitions --output package --package invoices",
    "check": f"{PROG} check --specs definitions --output package",
    "cost": cost_command.EXAMPLE,
    "compat": compat_command.EXAMPLE,
    "export": export_command.EXAMPLE,
}


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Invalid arguments raise SystemExit."""
    arguments = _parser().parse_args(argv)
    return reported(lambda: arguments.run(arguments))


def reported(run: Callable[[], int]) -> int:
    """Return the exit code of ``run``, or 1 after printing an expected error."""
    try:
        return run()
    except SpecError as error:
        tell(error, sys.stderr, lines=True)
        tell(f"{len(error.problems)} problem(s); nothing was generated", sys.stderr)
    except (CostError, IdentityError) as error:
        tell(error, sys.stderr, lines=True)
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        tell(f"{place}{error.strerror or error}", sys.stderr)
    return 1


class SafeParser(argparse.ArgumentParser):
    """Parser that escapes control characters in its errors."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = SafeParser(
        prog=PROG, description="Typed Python classes for messages in Kafka's format."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, about in (
        ("generate", _generate, "write the package for a folder of definitions"),
        ("check", _check, "compare a package with its definitions: prints a diff and exits with 1 if they differ"),
    ):
        command = _add(commands, name, about)
        what = "folder of message definitions (*.json) and their package.toml, or one definition; repeat it to add "
        what += "the versions of other releases, which must be compatible"
        command.add_argument("--specs", type=Path, action="append", required=True, metavar="FOLDER", help=what)
        command.add_argument("--output", type=Path, required=True, help="folder of the generated package")
        command.add_argument("--package", metavar="NAME", help="import name (default: from package.toml)")
        what = f"optional components, separated by commas, from {', '.join(OPTIONAL)}"
        what += " (default: from package.toml, or those that the messages require)"
        command.add_argument("--components", type=_component_names, metavar="NAMES", help=what)
        command.add_argument("--warnings", action="store_true", help="also print warnings that package.toml accepts")
        command.set_defaults(run=run)
    compat_command.add_arguments(_add(commands, "compat", compat_command.ABOUT), definitions.set_of_folder)
    export_command.add_arguments(_add(commands, "export", export_command.ABOUT))
    cost_command.add_to(commands)
    return parser


def _add(commands: Commands, name: str, about: str) -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    example = f"example:\n  {EXAMPLES[name]}"
    return commands.add_parser(name, help=about, description=about, epilog=example, formatter_class=layout)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        try:
            print(PROG, importlib.metadata.version(PROG))
        except importlib.metadata.PackageNotFoundError:
            print(PROG, "is not installed, so its version is unknown")
        parser.exit()


def _component_names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if (reason := component_problem(name)) is not None:
            raise argparse.ArgumentTypeError(reason)
    return names


def _request(arguments: argparse.Namespace) -> package.PackageRequest:
    specs, *more = arguments.specs
    return package.PackageRequest(specs, arguments.output, arguments.package, arguments.components, tuple(more))


def _rendered(arguments: argparse.Namespace, request: package.PackageRequest, old: dict[str, Any]) -> dict[str, str]:
    """Return the files of a package; ``old`` is the manifest on disk, whose tool versions ``check`` keeps."""
    check_owner = partial(output.check_owner, request, old)
    loaded = definitions.load(request.specs, request.components, check_owner, request.more)
    for warning in (*loaded.warnings, *(loaded.accepted if arguments.warnings else ())):
        tell(warning, sys.stderr, lines=True)
    apis = [each for each in loaded.messages if each.kind in (REQUEST, RESPONSE) and not each.is_removed]
    if arguments.run is _check and (missing := [each.name for each in apis if each.header_versions is None]):
        what = "has no headerVersions, which are optional here, but which Kafka's own generator requires from 4.5"
        tell(f"{min(missing)} (1 of {len(missing)} messages) {what}", sys.stderr)
    identity = identity_of(loaded, request.package)
    files = package.render(identity, loaded, _progress)
    used = output.tools_of(old) if arguments.run is _check else package.tools()
    files[package.MANIFEST] = package.manifest(request, identity, files, used)
    return files


def _progress(done: int, count: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {count} modules", end="\n" if done == count else "", file=sys.stderr, flush=True)


def _generate(arguments: argparse.Namespace) -> int:
    request = _request(arguments)
    started = time.monotonic()
    if output.is_current(request):
        tell(f"{request.output} is up to date")
        return 0
    manifest = output.read_manifest(request.output)
    files = _rendered(arguments, request, manifest)
    changed = output.write(request.output, manifest, files, tell)
    tell(f"{request.output}: {len(files)} files, {changed} changed, in {time.monotonic() - started:.1f} s")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    request = _request(arguments)
    manifest = output.read_manifest(request.output)
    files = _rendered(arguments, request, manifest)
    if not manifest:
        tell(f"{request.output} has no package; generate it: {_generating(request)}", sys.stderr)
        return 1
    if note := output.other_tools(request.output, manifest):
        tell(note, sys.stderr)
    lines = list(output.difference(request.output, manifest, files))
    what = "is not generated, but can be imported from the package; move or delete it"
    unknown = [f"{printable(name)} {what}\n" for name in output.unknown_modules(request.output, manifest, files)]
    tell("".join(lines + unknown), lines=True, end="")
    if lines:
        what = f"{request.output} differs from its definitions; regenerate it"
        tell(f"{what}: {_generating(request)}", sys.stderr)
    if lines or unknown:
        return 1
    tell(f"{request.output} matches its definitions")
    return 0


def _generating(request: package.PackageRequest) -> str:
    specs = [word for folder in (request.specs, *request.more) for word in ("--specs", str(folder))]
    words = [PROG, "generate", *specs, "--output", str(request.output)]
    if request.package is not None:
        words += ["--package", request.package]
    if request.components is not None:
        words += ["--components", ",".join(request.components)]
    return shlex.join(words)
