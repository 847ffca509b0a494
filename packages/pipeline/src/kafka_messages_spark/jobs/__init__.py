"""Programs for ``spark-submit`` and ``python -m``; each has ``main(argv)``.

``run``, ``parser`` and ``Job`` make others like them: the same arguments, errors, reports and exit status. ``records``
reads a topic for them, each record once.
"""

from ._cli import Job, parser, run
from ._selection import records

__all__ = ["Job", "parser", "records", "run"]
