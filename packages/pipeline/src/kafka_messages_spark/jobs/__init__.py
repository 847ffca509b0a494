"""Jobs for ``spark-submit`` and ``python -m``; each module has ``main(argv)``.

Custom jobs use ``parser``, ``run`` and ``Job`` for the same arguments, errors, reports and exit status. ``records``
reads the records of a topic without duplicates.
"""

from ._cli import Job, parser, run
from ._selection import records

__all__ = ["Job", "parser", "records", "run"]
