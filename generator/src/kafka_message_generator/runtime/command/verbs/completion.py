"""``completion``: prints the script for a shell, which was made when the package was generated."""

from __future__ import annotations

from .._options import Argument, Command, Given, UsageError
from .._output import Output
from .._parts import PACKAGE

SHELLS = ("bash", "zsh", "fish")


def run(given: Given, out: Output) -> int:
    """The script. Raises UsageError for another shell, and for a package whose program has no name."""
    shell = given.text("shell") or ""
    if shell not in SHELLS:
        raise UsageError(f"SHELL is one of {', '.join(SHELLS)}, not {shell!r}")
    from pkgutil import get_data

    try:
        script = get_data(PACKAGE, f"command/completions/{shell}")
    except OSError:
        script = None
    if script is None:
        raise UsageError("a package has scripts if package.toml names its program")
    for line in script.decode().splitlines():
        out.line(line)
    return 0


COMMAND = Command(
    run,
    (Argument("shell", "bash, zsh or fish", completes="shell"),),
    (),
    ("completion bash", "completion fish"),
    'In bash: eval "$(PROGRAM completion bash)"; in zsh the same with zsh; in fish: PROGRAM completion fish | source',
    is_fixed=True,
)
