"""Argument parser with suggestions for misspelled options."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter

from ..text import suggestion as meant
from ._errors import UsageError
from ._output import terminal_width
from ._table import SUBCOMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

# Maximum digits of a number.
MOST_DIGITS = 18
KINDS = ("request", "response", "header", "metadata", "coordinator-key", "coordinator-value", "data")


class _Formatter(RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=max(terminal_width() - 2, 40))


class Parser(ArgumentParser):
    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog=prog, formatter_class=_Formatter, allow_abbrev=False, **more)

    def parse(self, words: Sequence[str]) -> Namespace:
        """Parse arguments with options in any position. Raises UsageError, and SystemExit after ``--help``."""
        known = self._option_string_actions
        for word in words[: words.index("--")] if "--" in words else words:
            name = word.partition("=")[0]
            if name.startswith("--") and name not in known:
                raise UsageError(f"unknown option {name}{meant(name, known)}")
            if name[:1] == "-" != name and name not in known and not name[1:].isdigit():
                raise UsageError(f"unknown option {name}; options begin with two dashes")
        arguments, extra = self.parse_known_intermixed_args(words)
        if extra:
            raise UsageError(f"unexpected argument: {extra[0]!r}")
        return arguments

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def add_top_options(parser: ArgumentParser) -> None:
    _add_package(parser)
    parser.add_argument("--version", action="store_true", help="show the version of the package")


def subcommand_parser(prog: str, name: str, command: Any) -> Parser:
    parser = Parser(f"{prog} {name}", **texts(prog, name, command))
    add_arguments(parser, command)
    return parser


def texts(prog: str, name: str, command: Any) -> dict[str, str]:
    about = SUBCOMMANDS[name][0]
    more = getattr(command, "MORE", "").replace("PROGRAM", prog)
    examples = "\n".join(["examples:", *(f"  {prog} {example}" for example in command.EXAMPLES)])
    return {"description": f"{about[0].upper()}{about[1:]}.{more and chr(10) * 2}{more}", "epilog": examples}


def add_arguments(parser: ArgumentParser, command: Any) -> None:
    command.add_arguments(parser)
    if getattr(command, "HAS_OUTPUT_OPTIONS", True):
        _add_output(parser)
    _add_package(parser)


def _add_package(parser: ArgumentParser) -> None:
    parser.add_argument("--package", metavar="NAME", help="import name of the generated package")


def _add_output(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("common options")
    group.add_argument("--json", action="store_true", help="print JSON lines")
    group.add_argument("--text", action="store_true", help="print text (default)")
    modes = ("auto", "always", "never")
    group.add_argument("--color", metavar="WHEN", default="auto", help="colors: auto, always or never", **one_of(modes))
    group.add_argument("--width", metavar="COLUMNS", type=number, help="width of the output in columns")
    group.add_argument("--show-secrets", action="store_true", help="show passwords, keys and tokens")


def number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"expected an integer of at least 0, got {text!r}")
    if len(text) > MOST_DIGITS:
        raise ArgumentTypeError(f"expected at most {MOST_DIGITS} digits, got {len(text)}")
    return int(text)


def one_of(choices: Sequence[str]) -> Choices:
    def chosen(text: str) -> str:
        if text not in choices:
            raise ArgumentTypeError(f"expected one of {', '.join(choices)}, got {text!r}{meant(text, choices)}")
        return text

    return {"type": chosen, "choices": choices}


if TYPE_CHECKING:
    from typing import TypedDict

    class Choices(TypedDict):
        type: Callable[[str], str]
        choices: Sequence[str]
