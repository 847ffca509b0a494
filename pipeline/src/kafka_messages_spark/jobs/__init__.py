"""Programs for ``spark-submit`` and ``python -m``; each has ``main(argv)``.

``run``, ``parser`` and ``Job`` make others like them: the same arguments, errors, reports and exit status.
"""

from ._cli import Job, parser, run

__all__ = ["Job", "parser", "run"]
