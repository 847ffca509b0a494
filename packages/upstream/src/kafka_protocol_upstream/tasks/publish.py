"""The task ``publish``: steps of ``nox -s release``; nothing is uploaded."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from kafka_protocol_upstream.publish import native
from kafka_protocol_upstream.publish.versions import conflicts, read, uploads
from kafka_protocol_upstream.publish.wheels import PROJECTS, problems

ABOUT = "release this project: check versions, build native wheels, check the distributions, print the upload commands"
Step = Callable[[Path], int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("step", choices=STEPS, help=" ".join(f"{name}: {step.__doc__}" for name, step in STEPS.items()))
    parser.add_argument("folder", type=Path, nargs="?", default=Path("dist"), help="default: %(default)s")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    return STEPS[arguments.step](arguments.folder)


def versions(folder: Path) -> int:
    """Check that the versions of all projects are compatible."""
    projects = [read(each) for each in PROJECTS.values()]
    found = list(conflicts(projects))
    print("\n".join(found or (f"{project.name} {project.version}" for project in projects)))
    return 1 if found else 0


def native_wheels(folder: Path) -> int:
    """Build a wheel of the native core for each CPython on this machine."""
    try:
        for line in native.build(folder):
            print(line)
    except native.Failed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def contents(folder: Path) -> int:
    """Check that wheels and source distributions contain exactly the expected files."""
    found = list(problems(folder))
    print("\n".join(found) or f"wheels and source distributions of {len(PROJECTS)} projects are complete")
    return 1 if found else 0


def order(folder: Path) -> int:
    """Print the commands that upload the distributions, dependencies first."""
    print("\n".join(uploads([read(each) for each in PROJECTS.values()], folder)))
    return 0


STEPS: dict[str, Step] = {"versions": versions, "native": native_wheels, "contents": contents, "uploads": order}
