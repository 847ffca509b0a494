"""``completion``: prints the script for a shell, which was made when this distribution was built."""

from __future__ import annotations

from .._completions import SHELLS, script
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
    """Print the script. Raises UsageError where the command has no name to complete."""
    from .._main import program

    prog = program(package.name)
    if " " in prog:
        raise UsageError(f"{prog!r} is no command of a shell; install one by program in package.toml")
    out.line(script(given.shell, prog, package).rstrip("\n"))
    return 0
