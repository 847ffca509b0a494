"""A sample package, and the commands that generate and check it."""

from __future__ import annotations

import os
from pathlib import Path

from kafka_message_generator import cli
from kafka_message_generator.render import package
from tests.support.building import write_specs
from tests.support.specs import field, message

PROBE = message(field("A", about="Sample."))


def request_of(folder: Path, name: str = "sample_package") -> package.PackageRequest:
    return package.PackageRequest(write_specs(folder / "specs", PROBE), folder / "out", name)


def generate(request: package.PackageRequest) -> int:
    return cli.main(["generate", *arguments(request)])


def check(request: package.PackageRequest) -> int:
    return cli.main(["check", *arguments(request)])


def arguments(request: package.PackageRequest) -> list[str]:
    return ["--specs", str(request.specs), "--output", str(request.output), "--package", str(request.package)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def modification_times(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*")}


def reset_times(folder: Path) -> None:
    """Reset all modification times, so that later writes are visible."""
    for path in folder.rglob("*"):
        os.utime(path, ns=(1, 1))
