"""Measure the CPU seconds that each Spark job takes on the example files, beyond those of a session.

    python benchmarks/jobs.py [--quick] [--samples N] [--jobs groups,segments] [--limit SECONDS] [--output FILE]

Each run is a fresh process; its CPU time covers Python, the JVM and its workers. Exits with status 1
if a job exceeds the limit.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

from markdown import number, table
from rounds import rotated

ROOT = Path(__file__).resolve().parents[1]
LOGS = "examples/cluster/logs"
SESSION = "one row"
LIMIT = 15.0
SECONDS = 900
# Arguments of the jobs, as on docs/spark-jobs.md.
JOBS = {
    SESSION: (),
    "transactions": (LOGS,),
    "groups": (LOGS, "--data", LOGS),
    "metadata_diff": (LOGS, "--before-offset", "78"),
    "segments": (LOGS,),
    "replicas": (LOGS,),
    "encodings": ("consumer_offsets", LOGS),
    "internal_topics": ("transaction_state", LOGS, "--latest"),
    "batching": (LOGS,),
    "inventory": (LOGS,),
}
HEADER = ("job", "CPU s", "of it Python", "beyond a session", "Spark jobs", "stages", "tasks")


@dataclass(frozen=True)
class Cost:
    cpu: float
    python: float
    jobs: int
    stages: int
    tasks: int


def run(job: Sequence[str], folder: Path) -> Cost:
    """Run a job, or a session that reads one row if ``job`` is empty; a job writes ``report.txt`` to the folder."""
    file = folder / "cost.json"
    words = [*job, "--report", str(folder / "report.txt"), "--quiet", "--exit-zero"] if job else []
    command = [sys.executable, str(ROOT / "benchmarks" / "job_run.py"), str(file), *words]
    with (folder / "output.txt").open("w+", encoding="utf-8") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT, timeout=SECONDS, check=False)
        if done.returncode:
            output.seek(0)
            raise SystemExit(f"{' '.join(job)}: exit status {done.returncode}\n{output.read()[-4000:]}")
    return Cost(**json.loads(file.read_text(encoding="utf-8")))


def measure(jobs: Sequence[str], samples: int) -> dict[str, list[Cost]]:
    measured: dict[str, list[Cost]] = {job: [] for job in jobs}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(samples):
            for job in rotated(jobs, turn):
                words = (job, *JOBS[job]) if JOBS[job] else ()
                measured[job].append(run(words, Path(folder)))
                print(f"{job}: {measured[job][-1].cpu:.1f} s", file=sys.stderr, flush=True)
    return measured


def beyond(measured: dict[str, list[Cost]], job: str) -> float:
    return median(one.cpu - base.cpu for one, base in zip(measured[job], measured[SESSION], strict=True))


def render(command: str, measured: dict[str, list[Cost]]) -> str:
    rows = []
    for job, costs in measured.items():
        last = costs[-1]
        more = number(beyond(measured, job)) if job != SESSION else "-"
        cpu, python = (number(median(getattr(each, name) for each in costs)) for name in ("cpu", "python"))
        rows.append([job, cpu, python, more, str(last.jobs), str(last.stages), str(last.tasks)])
    return report_head(command, len(measured[SESSION])) + "\n".join(table(HEADER, rows))


def report_head(command: str, samples: int, *facts: str) -> str:
    where = (f"Spark {version('pyspark')}", f"Python {sys.version.split()[0]}", f"{os.cpu_count()} processors")
    return f"`{command}`\n\n{', '.join((f'median of {samples}', *facts, *where))}\n\n"


def main(words: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=5, help="fresh processes for each job (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="run each job once")
    parser.add_argument("--jobs", default=",".join(list(JOBS)[1:]), help="jobs to measure (default: all)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="maximum beyond a session (default %(default)g s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there too")
    arguments = parser.parse_args(words)
    names = arguments.jobs.split(",")
    if unknown := set(names) - (set(JOBS) - {SESSION}):
        parser.error(f"there is no job {', '.join(sorted(unknown))}")
    if arguments.samples < 1:
        parser.error("--samples is at least 1")
    measured = measure([SESSION, *names], 1 if arguments.quick else arguments.samples)
    text = render(shlex.join(["python", "benchmarks/jobs.py", *sys.argv[1:]]), measured)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")
    missed = [job for job in names if beyond(measured, job) > arguments.limit]
    if missed:
        print(f"beyond {arguments.limit:g} s: {', '.join(missed)}", file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
