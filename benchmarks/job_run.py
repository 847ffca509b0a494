"""Run a job, or a minimal session, and write its cost to a file as JSON.

Started by ``benchmarks/jobs.py``: python benchmarks/job_run.py FILE [JOB ARGUMENT ...]
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from process_tree import cpu_seconds, python_seconds

from kafka_messages_spark.__main__ import main as program


def main(words: Sequence[str]) -> int:
    file, *command = words
    status = program(command) if command else one_row()
    # Read first, as the counts below take CPU time too.
    cost: dict[str, Any] = {"cpu": cpu_seconds(os.getpid()), "python": python_seconds(os.getpid())}
    Path(file).write_text(json.dumps({**cost, **counts()}), encoding="utf-8")
    return status


def one_row() -> int:
    """Send one row through a Python worker, the minimum cost of any job."""
    from kafka_messages_spark._core.worker_python import use_for_next_session
    from kafka_messages_spark.jobs import _local_mode
    from kafka_messages_spark.jobs._session import start

    use_for_next_session()
    start("one row", _local_mode.SETTINGS, _local_mode.JAVA).range(0, 1, 1, 1).mapInArrow(
        lambda batches: batches, "id bigint"
    ).collect()
    return 0


def counts() -> dict[str, int]:
    from pyspark.sql import SparkSession

    context = SparkSession.active().sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    jobs = context.statusStore().jobsList(None)
    each = [jobs.apply(at) for at in range(jobs.size())]
    return {
        "jobs": len(each),
        "stages": sum(job.numCompletedStages() for job in each),
        "tasks": sum(job.numCompletedTasks() for job in each),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
