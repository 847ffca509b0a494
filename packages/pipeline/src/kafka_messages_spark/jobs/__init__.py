"""Jobs for ``spark-submit`` and ``python -m``, and the interface for custom jobs."""

from ._cli import parser, run
from ._job import Job
from ._selection import records

__all__ = ["Job", "parser", "records", "run"]
