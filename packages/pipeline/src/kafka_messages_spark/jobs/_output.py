"""Report files, in the format of the file extension."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.jobs._report import JobReport, JobRun
from kafka_messages_spark.sources._files import display_path, is_local, open_filesystem


def save(report: JobReport, run: JobRun, place: str) -> None:
    filesystem, path, _ = open_filesystem(place)
    with filesystem.open_output_stream(path) as file:
        file.write(_written(report, run, place).encode(errors="backslashreplace"))
    print(f"written: {display_path(place)}", file=sys.stderr, flush=True)


def check_place(owner: str, place: str) -> None:
    """Raise PySparkValueError if a local report file cannot be written."""
    filesystem, path, _ = open_filesystem(place, owner)
    if not is_local(filesystem):
        return
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise invalid_argument(f"{owner}: --report: folder not found: {folder}")
    if os.path.isdir(path):
        raise invalid_argument(f"{owner}: --report: {path} is a folder, but must be a file")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise invalid_argument(f"{owner}: --report: no permission to write {path}")


def is_page(place: str) -> bool:
    return place.endswith((".html", ".htm"))


def inputs(args: Namespace) -> dict[str, object]:

    def formatted(value: object) -> object:
        if isinstance(value, list):
            return [formatted(each) for each in value]
        return display_path(value) if isinstance(value, str) else value

    return {name: formatted(value) for name, value in sorted(vars(args).items())}


def _written(report: JobReport, run: JobRun, place: str) -> str:
    if is_page(place):
        return report.html(run)
    if place.endswith(".json"):
        return report.json(run)
    return report.markdown() if place.endswith(".md") else report.text()
