"""Completion scripts for shells: printed by shtab when the distribution is built, and read here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Any

    from ..package import Package

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "kafka-messages"
"""The command that the scripts are printed for; another one takes its place when a script is read."""
MESSAGES, ERRORS = "MESSAGE_NAMES", "ERROR_NAMES"
"""Placeholders for the names of the package."""
_COMPLETED = {
    "bytes": ("file",),
    "code": ("error",),
    "error": ("error",),
    "file": ("file",),
    "json_text": ("file",),
    "message": ("message",),
    "other": ("file",),
    "request": ("file",),
}
"""What the values of arguments are, by their names."""


def script(shell: str, prog: str, package: Package) -> str:
    """Return the script for a command and the names of a package."""
    from pkgutil import get_data

    try:
        data = get_data(__package__, f"completions/{shell}")
    except OSError:  # run from the sources
        data = None
    text = printed(shell) if data is None else data.decode()
    protocol = package.optional("protocol")
    errors = [] if protocol is None else [code.name for code in protocol.ErrorCode]
    text = text.replace(MESSAGES, " ".join(info.name for info in package.root.all_messages()))
    text = text.replace(ERRORS, " ".join(errors))
    return text.replace(PROGRAM.replace("-", "_"), prog.replace("-", "_")).replace(PROGRAM, prog)


def printed(shell: str) -> str:
    """Return the script for a shell with placeholders. It needs shtab."""
    import shtab

    text: str = shtab.complete(_parser(shtab), shell)
    return text


def _parser(shtab: Any) -> ArgumentParser:
    """Return the parser of all subcommands, with what completes their values."""
    from ._arguments import Parser, add_arguments, add_top_options
    from ._table import SUBCOMMANDS, load

    parser = Parser(PROGRAM)
    add_top_options(parser)
    subparsers = parser.add_subparsers(metavar="SUBCOMMAND", parser_class=Parser)
    for name, (about, _) in SUBCOMMANDS.items():
        inner = subparsers.add_parser(name, prog=f"{PROGRAM} {name}", help=about)
        add_arguments(inner, load(name))
        takes_headers = any(action.dest == "frame" for action in inner._actions) and name != "encode"
        for action in inner._actions:
            kinds: tuple[str, ...] = _COMPLETED.get(action.dest, ()) if action.nargs != 0 else ()
            if action.dest == "pattern" and name in ("list", "tags"):
                kinds = ("message",)
            if action.dest == "message" and takes_headers:  # a header may say what the bytes are
                kinds = ("message", "file")
            if kinds:
                action.complete = _completed(shtab, kinds)  # type: ignore[attr-defined]
    return parser


def _completed(shtab: Any, kinds: tuple[str, ...]) -> dict[str, object]:
    """Return the completion of values of some kinds, in the form of shtab."""
    if kinds == ("file",):
        files: dict[str, object] = shtab.FILE
        return files
    names = ERRORS if kinds[0] == "error" else MESSAGES
    has_files = "file" in kinds
    function = f"_{PROGRAM.replace('-', '_')}_{'_'.join(kinds)}"
    lines = [f'compgen -W "{names}" -- $1', *(["compgen -f -- $1"] if has_files else [])]
    body = "\n".join(f"  {line}" for line in lines)
    return {
        "bash": function,
        "zsh": f"{{_alternative 'names:name:({names})' 'files:file:_files'}}" if has_files else f"({names})",
        "fish": f"{names} (__fish_complete_path (commandline -ct))" if has_files else names,
        "preamble": {"bash": f"{function}() {{\n{body}\n}}"},
    }
