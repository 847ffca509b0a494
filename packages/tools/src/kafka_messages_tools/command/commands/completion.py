"""Subcommand ``completion``: shell completion script."""

from __future__ import annotations

from ...package import DEFAULT
from .._completions import PROGRAM, SHELLS, script
from .._errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ...package import Package
    from .._output import Output

EXAMPLES = ("completion bash", "completion fish")
MORE = 'In bash: eval "$(PROGRAM completion bash)"; in zsh the same with zsh; in fish: PROGRAM completion fish | source'
HAS_OUTPUT_OPTIONS = False


def add_arguments(parser: ArgumentParser) -> None:
    from .._arguments import one_of

    parser.add_argument("shell", help=", ".join(SHELLS), **one_of(SHELLS))


def run(given: Namespace, out: Output, package: Package) -> int:
    """Print the script. Raises UsageError under ``python -m``, unless the package is ``kafka_messages``."""
    from .._main import program

    prog = program()
    if " " in prog and package.name != DEFAULT:
        what = f"run {PROGRAM} --package {package.name} completion {given.shell}"
        raise UsageError(f"completion does not work with python -m; {what}")
    prog = PROGRAM if " " in prog else prog
    out.line(script(given.shell, prog, package).rstrip("\n"))
    return 0
