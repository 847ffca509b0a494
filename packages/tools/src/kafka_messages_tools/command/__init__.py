"""The command line of a package: shows, decodes, writes and compares messages; ``main`` runs it.

Each subcommand is a module of ``verbs``, imported when it is called; ``_table`` lists them.
"""

from __future__ import annotations

from ._main import main

__all__ = ["main"]
