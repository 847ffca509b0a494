"""Entry point of the command.

Exit status: 0 success, 1 bad data or a negative result (such as differences), 2 invalid arguments or unknown names,
130 interrupt.
"""

from __future__ import annotations

import os
import sys

from ..package import DEFAULT, PackageError
from ..package import load as load_package
from ..text import safe, suggestion
from ._errors import InputError, NotFoundError, UsageError
from ._output import Output
from ._table import SUBCOMMANDS, available, check, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from ..package import Package


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open until exit
    try:
        status = _run(words, program())
        sys.stdout.flush()
    except BrokenPipeError:
        # Redirect the flush at exit, which must not fail on the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return status


def program() -> str:
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    is_module = name in ("__main__.py", "", "-c", "-m")
    return f"python -m {__name__.partition('.')[0]}" if is_module else name


def _run(words: list[str], prog: str) -> int:
    at = _subcommand_at(words)
    name, rest = (words[at], words[at + 1 :]) if at < len(words) else ("", [])
    if name == "help":
        name, rest = (rest[0], ["--help"]) if rest else ("", [])
    try:
        package, is_version = _top_options(words[:at], prog)
        if name:
            return _run_subcommand(name, rest, prog, package)
        found = load_package(package)
        sys.stdout.write(f"{found.name} {found.root.__version__}\n" if is_version else _overview(prog, found))
        return 0 if words else 2
    except (NotFoundError, PackageError) as error:
        _say(prog, str(error))
        return 2
    except UsageError as error:
        _say(prog, str(error))
        sys.stderr.write(f"usage: {prog} {f'{name} ' if name in SUBCOMMANDS else ''}--help\n")
        return 2


def _subcommand_at(words: list[str]) -> int:
    for at, word in enumerate(words):
        if not word.startswith("-") and words[max(at - 1, 0) : at] != ["--package"]:
            return at
    return len(words)


def _top_options(words: list[str], prog: str) -> tuple[str, bool]:
    if words in ([], ["--help"], ["-h"], ["--version"]):
        return DEFAULT, words == ["--version"]
    from ._arguments import Parser, add_top_options

    parser = Parser(prog, add_help=False)
    add_top_options(parser)
    given = parser.parse([word for word in words if word not in ("-h", "--help")])
    return given.package or DEFAULT, given.version


def _run_subcommand(name: str, words: list[str], prog: str, default: str) -> int:
    from ._arguments import subcommand_parser

    if name not in SUBCOMMANDS:
        raise UsageError(f"unknown subcommand {name!r}{suggestion(name, SUBCOMMANDS)}")
    command = load(name)
    try:
        given = subcommand_parser(prog, name, command).parse(words)
    except SystemExit as done:  # after --help
        return int(done.code or 0)
    package = load_package(given.package or default)
    check(name, package)
    try:
        status: int = command.run(given, _output(given), package)
        return status
    except (package.root.KafkaMessageError, InputError) as error:
        _say(prog, str(error))
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        place = f"{error.filename}: " if error.filename is not None else ""
        _say(prog, f"{place}{error.strerror or error}")
        return 2


def _output(given: Namespace) -> Output:
    if not hasattr(given, "json"):  # a subcommand with text output only
        return Output(sys.stdout, False, "never", None, False)
    if given.json and given.text:
        raise UsageError("--json and --text exclude each other")
    return Output(sys.stdout, given.json, given.color, given.width, given.show_secrets)


def _say(prog: str, what: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"{prog}: {safe(what)}\n")


def _overview(prog: str, package: Package) -> str:
    names = available(package)
    width = max(map(len, names)) + 2
    lines = [f"usage: {prog} [--package NAME] SUBCOMMAND ...", "", "subcommands:"]
    lines += [f"  {name:<{width}}{SUBCOMMANDS[name][0]}" for name in names]
    lines += ["", f"{prog} SUBCOMMAND --help shows the arguments; --version shows the package."]
    return "\n".join(lines) + "\n"
