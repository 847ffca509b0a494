"""Arguments and options of a subcommand as data: parsed, explained, and printed into completion scripts.

argparse takes longer to import than most subcommands take to run, and its tables cannot be read from outside.
"""

from __future__ import annotations

from .._core.spelling import did_you_mean
from .._core.value import dataclass
from ..errors import KafkaMessageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ._output import Output


MOST_DIGITS = 18
"""Of a number on a command line; of some thousand Python reads none."""
KINDS = ("request", "response", "header", "metadata", "coordinator-key", "coordinator-value", "data")
"""Of messages."""


class UsageError(Exception):
    """The command line cannot be understood; the text says why."""


class NotFoundError(UsageError):
    """What was named is not there: a message, a version, a field, an error code, an API."""


class InputError(KafkaMessageError, ValueError):
    """What was given cannot be read, though the command line is understood."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A word by its place. One that is optional may be left out; one that is repeated takes all words that are left."""

    name: str
    about: str
    is_optional: bool = False
    is_repeated: bool = False
    completes: str = ""
    """What may stand there, for completion: ``message``, ``file``, ``error``, or nothing."""

    @property
    def shown(self) -> str:
        word = f"{self.name.upper()}..." if self.is_repeated else self.name.upper()
        return f"[{word}]" if self.is_optional else word


@dataclass(frozen=True, slots=True)
class Option:
    """``--name``, with a value if ``metavar`` says how that is called."""

    name: str
    about: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    is_number: bool = False
    completes: str = ""

    @property
    def shown(self) -> str:
        return f"--{self.name} {self.metavar}" if self.metavar else f"--{self.name}"


class Given:
    """What was given on a command line, by the names of arguments and options."""

    def __init__(self) -> None:
        self._values: dict[str, list[str]] = {}

    def add(self, name: str, value: str) -> None:
        self._values.setdefault(name, []).append(value)

    def flag(self, name: str) -> bool:
        """Whether an option without a value was given."""
        return name in self._values

    def text(self, name: str) -> str | None:
        """The value of an option or argument; the last one counts. None if there is none."""
        return self._values[name][-1] if name in self._values else None

    def number(self, name: str) -> int | None:
        """The same as a number."""
        value = self.text(name)
        return None if value is None else int(value)

    def every(self, name: str) -> list[str]:
        """All values of an argument that may be repeated."""
        return self._values.get(name, [])


@dataclass(frozen=True, slots=True)
class Command:
    """What a subcommand takes, and the function that runs it and gives the exit status."""

    run: Callable[[Given, Output], int]
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    """Command lines behind the name of the program."""
    more: str | Callable[[], str] = ""
    """Sentences for its help, or what makes them of facts that only a package has."""
    is_fixed: bool = False
    """True if it prints one text, for which the options for output mean nothing."""

    @property
    def common(self) -> tuple[Option, ...]:
        """The options that it shares with others."""
        return (HELP,) if self.is_fixed else COMMON


HELP = Option("help", "this text")
COMMON = (
    Option("json", "JSON lines"),
    Option("text", "text, as without --json"),
    Option("color", "colours: auto, always or never", "WHEN", ("auto", "always", "never")),
    Option("width", "columns of the output", "COLUMNS", is_number=True),
    Option("show-secrets", "show passwords, keys and tokens"),
    HELP,
)
"""Options of all subcommands that show messages or facts."""


def parse(command: Command, words: Sequence[str]) -> Given:
    """The words behind the name of a subcommand, taken apart. Raises UsageError."""
    known = {option.name: option for option in (*command.options, *command.common)}
    given = Given()
    places: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            places += left
            break
        if word == "-h":
            given.add("help", "")
        elif word.startswith("--"):
            _option(known, word[2:], left, given)
        elif word.startswith("-") and len(word) > 1 and not word[1:].isdigit():
            raise UsageError(f"unknown option {word}; options begin with two dashes")
        else:
            places.append(word)
    if not given.flag("help"):
        _place(command, places, given)
    return given


def _option(known: dict[str, Option], text: str, left: list[str], given: Given) -> None:
    """Take one option, and its value from the words that are left."""
    name, equals, value = text.partition("=")
    option = known.get(name)
    if option is None:
        raise UsageError(f"unknown option --{name}{meant(name, known, '--')}")
    if not option.metavar:
        if equals:
            raise UsageError(f"--{name} takes no value")
    elif not equals:
        if not left:
            raise UsageError(f"--{name} needs a value: {option.shown}")
        value = left.pop(0)
    if option.choices and value not in option.choices:
        raise UsageError(f"--{name} is one of {', '.join(option.choices)}, not {value!r}")
    if option.is_number and not (value.isascii() and value.isdigit()):
        raise UsageError(f"--{name} needs a number, not {value!r}")
    if option.is_number and len(value) > MOST_DIGITS:
        raise UsageError(f"--{name} takes at most {MOST_DIGITS} digits, not {len(value)}")
    given.add(name, value)


def _place(command: Command, places: list[str], given: Given) -> None:
    """Give words to the arguments by their places."""
    for argument in command.arguments:
        if not places:
            if not argument.is_optional:
                raise UsageError(f"{argument.shown} is missing: {argument.about}")
            return
        taken, places = (places, []) if argument.is_repeated else (places[:1], places[1:])
        for word in taken:
            given.add(argument.name, word)
    if places:
        raise UsageError(f"one argument too many: {places[0]!r}")


def meant(word: str, known: Iterable[str], prefix: str = "") -> str:
    """``; did you mean list?``, if one of the known words is near."""
    return did_you_mean(word, known, prefix + "{}", 0.6)


def usage(program: str, name: str, command: Command) -> str:
    """The line that says how a subcommand is called."""
    return " ".join((program, name, *(argument.shown for argument in command.arguments), "[OPTIONS]"))


def help_text(program: str, name: str, about: str, command: Command) -> str:
    """Everything about a subcommand."""
    lines = [f"usage: {usage(program, name, command)}", "", f"{about[0].upper()}{about[1:]}."]
    if more := command.more if isinstance(command.more, str) else command.more():
        lines += ["", more]
    if command.arguments:
        lines += ["", "arguments:", *_rows([(each.shown, each.about) for each in command.arguments])]
    for title, options in (("options:", command.options), ("common options:", command.common)):
        if options:
            lines += ["", title, *_rows([(each.shown, each.about) for each in options])]
    if command.examples:
        lines += ["", "examples:", *(f"  {program} {example}" for example in command.examples)]
    return "\n".join(lines) + "\n"


def _rows(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(left) for left, _ in rows) + 2
    return [f"  {left:<{width}}{right}".rstrip() for left, right in rows]
