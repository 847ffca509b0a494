"""Loop of the Python drivers: one JSON command per line from stdin, one JSON answer per line to stdout.

A command names a handle (a consumer or producer). Each handle has its own thread: its commands run in order, and
concurrently with those of other handles.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

Command = dict[str, Any]
Row = tuple[str, int, int, str]  # topic, partition, offset, value
HANDLES: dict[str, Any] = {}


class NotSupported(Exception):
    """Raised for a command or an option that the client lacks."""


class PollFailed(Exception):
    """Raised with the records that were polled before an error."""

    def __init__(self, rows: list[Row], error: Exception) -> None:
        self.rows = rows
        self.error = error


def polled(command: Command, rows: list[Row], fetch: Callable[[float, int], Iterable[Row]]) -> list[Row]:
    """Add ``count`` records to ``rows``, unless the seconds pass. ``fetch`` gets the seconds and the number left."""
    deadline = time.monotonic() + command["seconds"]
    while (missing := command["count"] - len(rows)) > 0 and (left := deadline - time.monotonic()) > 0:
        try:
            rows += fetch(left, missing)
        except Exception as error:  # of any client; the answer names it
            raise PollFailed(rows, error) from error
    return rows


def offsets(rows: list[Row]) -> dict[tuple[str, int], int]:
    """Return the offsets after the records, by topic and partition."""
    return {(topic, partition): offset + 1 for topic, partition, offset, _ in rows}


def describe(error: Exception) -> dict[str, Any]:
    """Return the code of an error of kafka-python or aiokafka."""
    if not hasattr(error, "retriable"):
        return {}
    return {"code": getattr(error, "errno", None), "retriable": error.retriable}


def serve(
    kinds: Mapping[str, Callable[[Command], Any]], describe: Callable[[Exception], dict[str, Any]] = describe
) -> None:
    """Answer the commands. ``kinds`` make handles; the other commands are their methods."""
    workers: dict[str, ThreadPoolExecutor] = {}
    lock = Lock()

    def run(command: Command) -> Any:
        name, do = command["name"], command["do"]
        if do in kinds:
            HANDLES[name] = kinds[do](command)
            return None
        method = getattr(HANDLES.pop(name) if do == "close" else HANDLES[name], do, None)
        if method is None:
            raise NotSupported
        return method(command)

    def answer(command: Command) -> None:
        try:
            fields = {"ok": run(command)}
        except NotSupported:
            fields = {"unsupported": True}
        except PollFailed as failed:
            fields = {"ok": failed.rows, **_described(failed.error)}
        except Exception as error:  # of any client; the answer names it
            fields = _described(error)
        with lock:
            print(json.dumps({"id": command["id"], **fields}), flush=True)

    def _described(error: Exception) -> dict[str, Any]:
        return {"error": type(error).__name__, "text": str(error), **describe(error)}

    for line in sys.stdin:
        command = json.loads(line)
        if command["name"] not in workers:
            workers[command["name"]] = ThreadPoolExecutor(1)
        workers[command["name"]].submit(answer, command)
        if command["do"] == "close":
            workers.pop(command["name"]).shutdown(wait=False)
    os._exit(0)  # without waiting for clients that hang
