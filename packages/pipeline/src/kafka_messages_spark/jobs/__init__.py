"""Jobs for ``spark-submit`` and ``python -m``, and the interface for custom jobs."""

from ._cli import parser, run
from ._job import Job
from ._local_mode import Input
from ._report import Gauge, JobFinding, JobReport, JobRun
from ._selection import records

__all__ = ["Gauge", "Input", "Job", "JobFinding", "JobReport", "JobRun", "parser", "records", "run"]
