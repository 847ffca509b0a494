"""Command line of jobs.

Exit status: 0 without findings above ``info``, 1 with such findings (0 with ``--exit-zero``), 2 for invalid arguments
or input.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kafka_messages_spark.jobs import _local_mode
from kafka_messages_spark.jobs._errors import message_of
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._options import check_state
from kafka_messages_spark.jobs._output import (
    add_arguments,
    check_place,
)
from kafka_messages_spark.jobs._report import (
    JobReport,
)
from kafka_messages_spark.jobs._session import is_ours

WRONG = 2
PROGRAM = "kafka-messages-spark"


def parser(name: str, description: str) -> ArgumentParser:
    """Return a parser with the arguments of all jobs."""
    made = ArgumentParser(
        prog=f"{PROGRAM} {name}" if Path(sys.argv[0]).stem == PROGRAM else name,
        description=description,
        formatter_class=RawDescriptionHelpFormatter,
        epilog="exit status: 1 findings of severity warning or error, 0 none, 2 wrong arguments or input",
    )
    out = made.add_argument_group("output")
    add_arguments(out)
    out.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help="also write the report to this file: .html with charts, .json, .md, .prom, else text; may be repeated",
    )
    out.add_argument(
        "--limit", type=positive, default=20, metavar="N", help="maximum rows of a table in the report (%(default)s)"
    )
    out.add_argument("--width", type=positive, metavar="N", help="line width on stdout; default: terminal width")
    out.add_argument("--exit-zero", action="store_true", help="exit with 0 despite findings")
    out.add_argument("--quiet", action="store_true", help="do not print progress on stderr")
    made.add_argument("--glob", help="pattern of file names in folders; default *.{log,checkpoint}")
    return made


def show_secrets(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        help="show SCRAM credentials and settings that are or may be passwords",
    )


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def run(
    title: str,
    parser: ArgumentParser,
    argv: Sequence[str] | None,
    work: Callable[[Job], None],
    settings: Mapping[str, str] | None = None,
    reads: Callable[[Namespace], Sequence[_local_mode.Input]] | None = None,
    writes: Callable[[Namespace], Sequence[str]] | None = None,
) -> int:
    """Parse the arguments, run a job and return the exit status.

    ``settings`` are for a new session. ``reads`` returns the inputs; if they are small, the job runs in local mode.
    ``writes`` returns the names of the output tables; ``check_tables`` looks for existing ones before input is read.
    """
    args = parser.parse_args(argv)
    job = Job(parser.prog.rpartition(" ")[2], args, JobReport(title), dict(settings or {}))
    try:
        for place in args.report:
            check_place(job.name, place)
        job.writes = writes(args) if writes else ()
        state = None
        if getattr(args, "state", None) is not None:
            check_state(job.name, args.state, [*args.paths, *(getattr(args, "data", None) or ())])
            state = job.state
        if reads is not None and is_ours():
            job.partitions = _local_mode.partitions_for(reads(args), args.glob, state)
        work(job)
        job.finish()
    except Exception as error:
        message = message_of(error)
        if message is None:
            raise
        print(f"{job.name}: error: {message.removeprefix(f'{job.name}: ')}", file=sys.stderr)
        return WRONG
    finally:
        job.close()
    return job.exit_status
