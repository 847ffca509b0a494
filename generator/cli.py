"""The command line: ``python -m generator generate|check|import-specs|cost``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from generator import definitions, output
from generator.cost import command as cost_command
from generator.render import package
from generator.spec.source import SpecError

ROOT = Path(__file__).parents[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 1 with the reason on standard error."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except SpecError as error:
        print(error, file=sys.stderr)
        print(f"{len(error.problems)} problem(s); nothing was generated", file=sys.stderr)
        return 1
    except package.RequestError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        print(f"{place}{error.strerror or error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m generator", description="Typed Python classes for Kafka messages.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, about in (
        ("generate", _generate, "write the package for a folder of definitions"),
        ("check", _check, "compare the package on disk with its definitions; exit code 1 and a diff when they differ"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.add_argument("--specs", type=Path, required=True, help="folder of message definitions (*.json)")
        command.add_argument("--output", type=Path, required=True, help="folder of the generated package")
        command.add_argument("--package", default="kafka_messages", help="import name (default: %(default)s)")
        command.set_defaults(run=run)
    _release_commands(commands)
    cost_command.add_to(commands)
    return parser


def _release_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("import-specs", help="take the definitions of a Kafka release from its artifacts")
    command.add_argument("release", help="for example 4.4.0")
    command.add_argument("--specs", type=Path, default=ROOT / "specs" / "kafka", help="where definitions go")
    command.add_argument("--work", type=Path, required=True, help="folder for the downloaded jars")
    command.set_defaults(run=_import_specs)


def _render(request: package.Request) -> dict[str, str]:
    loaded = definitions.load(request.specs)
    for warning in loaded.warnings:
        print(warning, file=sys.stderr)
    files = package.render(request, loaded)
    files[package.MANIFEST] = package.manifest(request, files)
    return files


def _generate(arguments: argparse.Namespace) -> int:
    request = package.Request(arguments.specs, arguments.output, arguments.package)
    started = time.monotonic()
    if output.is_current(request):
        print(f"{request.output} is up to date")
        return 0
    if request.output.exists() and any(request.output.iterdir()) and not (request.output / package.MANIFEST).exists():
        raise package.RequestError(
            f"{request.output} has files but no {package.MANIFEST}: not a generated package, left alone"
        )
    files = _render(request)
    changed = output.write(request.output, files)
    print(f"{request.output}: {len(files)} files, {len(changed)} changed, in {time.monotonic() - started:.1f} s")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    request = package.Request(arguments.specs, arguments.output, arguments.package)
    lines = list(output.difference(request.output, _render(request)))
    sys.stdout.writelines(lines)
    if lines:
        print(f"{request.output} differs from what its definitions give; run nox -s regenerate", file=sys.stderr)
        return 1
    print(f"{request.output} is what its definitions give")
    return 0


def _import_specs(arguments: argparse.Namespace) -> int:
    from generator.release.artifacts import ArtifactError, resolve
    from generator.release.importer import ImportSpecsError, import_specs
    from generator.vectors.java_oracle import OracleError
    from generator.vectors.write import write_errors

    try:
        jars = resolve(arguments.release, arguments.work)
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
