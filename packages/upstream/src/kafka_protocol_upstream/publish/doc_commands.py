"""The task ``doc-commands``: runs the shell blocks of the documentation in fresh clones, two pages at a time."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, groupby
from pathlib import Path
from queue import Empty, SimpleQueue

from kafka_protocol_upstream.publish.doc_blocks import Block, pages, to_run
from kafka_protocol_upstream.publish.wheels import ROOT

ABOUT = "run the shell blocks of README and docs in fresh clones"
FIRST = "python3 -m venv .venv"  # First line of the block that creates the environment for all others.
WORKERS = 2  # Each worker has its own clone, and runs one page at a time.
LIMIT = 1800  # Timeout of a block in seconds.
SPARK = "downloads 450 MB of PySpark"
# First words of blocks that run a job, which exits with 1 if it has findings.
JOB = "python -m kafka_messages_spark.jobs."
# First words of slow blocks, with the reason why they are skipped without ``--all``.
SLOW = {
    "nox -s quick": "takes two minutes",
    "nox -s tests": "every test",
    "nox -s nightly -- browser": "needs Node.js, Java and Chromium",
    "nox -s pipeline": f"{SPARK}; tests/pipeline/test_demo.py runs the demo",
    'pip install "./generated[arrow]" "./packages/records[arrow]" "./packages/pipeline[spark,java]"': SPARK,
    JOB: "needs PySpark, which another block installs; tests/pipeline runs the jobs",
    "nox -s nightly -- interop": "starts a broker, from 300 MB of Maven Central",
    "nox -s upstream -- cluster": "starts a broker, from 300 MB of Maven Central",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also run the slow blocks")
    parser.set_defaults(run=lambda arguments: run_all(arguments.all))


def run_all(is_all: bool) -> int:
    """Run every block and print its time; return 1 if a block failed."""
    first, *rest = (block for page in pages() for block in to_run(page, "sh"))
    queue: SimpleQueue[list[Block]] = SimpleQueue()
    for _, group in groupby(rest, lambda block: block.page):
        if selected := list(_selected(group, is_all)):
            queue.put(selected)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as executor:
        clones = [Path(folder, str(number)) for number in range(WORKERS)]
        failed = list(chain.from_iterable(executor.map(lambda clone: _run_pages(first, queue, clone), clones)))
    for block in failed:
        print(f"{block.place}: FAILED", file=sys.stderr)
    return 1 if failed else 0


def _selected(blocks: Iterable[Block], is_all: bool) -> Iterator[Block]:
    for block in blocks:
        why = None if is_all else reason_to_skip(block)
        if why is None:
            yield block
        else:
            print(f"{block.place}: skipped: {why}", flush=True)


def _run_pages(first: Block, queue: SimpleQueue[list[Block]], clone: Path) -> list[Block]:
    """Create an environment in a clone, run pages until the queue is empty, and return the blocks that failed."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    failed = [] if run(first, clone) else [first]
    while True:
        try:
            page = queue.get_nowait()
        except Empty:
            return failed
        failed += [block for block in page if not run(block, clone)]


def reason_to_skip(block: Block) -> str | None:
    return next((why for beginning, why in SLOW.items() if block.text.startswith(beginning)), None)


def run(block: Block, clone: Path) -> bool:
    """Run a block in the clone, with its environment unless the block creates it; return whether it succeeded."""
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    environment["PATH"] = os.pathsep.join(
        part for part in environment["PATH"].split(os.pathsep) if not part.startswith(sys.prefix + os.sep)
    )
    activate = "" if block.text.startswith(FIRST) else ". .venv/bin/activate\n"
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        status = _status(["bash", "-euo", "pipefail", "-c", activate + block.text], clone, environment, output.fileno())
        output.seek(0)
        printed = output.read()
    has_findings = status == 1 and block.text.startswith(JOB) and "Traceback" not in printed
    is_good = status == 0 or has_findings
    line = f"{block.place}: {'ok' if is_good else f'exit status {status}'} in {time.monotonic() - started:.0f} s\n"
    print(line if is_good else line + printed, end="", flush=True)  # one call, as both workers print
    return is_good


def _status(command: list[str], clone: Path, environment: dict[str, str], output: int) -> int:
    process = subprocess.Popen(
        command,
        cwd=clone,
        env=environment,
        stdout=output,
        stderr=output,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()
