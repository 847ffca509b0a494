"""From the words of a command line to an exit status: 0, 1 for bytes and messages that do not fit, 2 for bad words."""

from __future__ import annotations

import os
import sys

from ..errors import KafkaMessageError
from ._options import Given, NotFoundError, UsageError, help_text, meant, parse, usage
from ._output import Output
from ._parts import PACKAGE, package_version
from ._table import Verb, verbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status; ``arguments`` are those of the process unless given."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this, and so not wanted
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # to the end
    try:
        status = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read this has seen enough. Python flushes once more at its end, which must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return status


def program() -> str:
    """How this program was called."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return f"python -m {PACKAGE}" if name in ("__main__.py", "", "-c", "-m") else name


def _run(words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        if len(words) > 1 and words[0] == "help":
            return _run([words[1], "--help"])
        sys.stdout.write(_overview())
        return 0 if words else 2
    if words[0] == "--version":
        sys.stdout.write(f"{PACKAGE} {package_version()}\n")
        return 0
    found = next((verb for verb in verbs() if verb.name == words[0]), None)
    if found is None:
        names = [verb.name for verb in verbs()]
        what = "option" if words[0].startswith("-") else "subcommand"
        _complain(f"unknown {what} {words[0]!r}{meant(words[0], names)}", f"{program()} --help")
        return 2
    return _run_verb(found, words[1:])


def _run_verb(verb: Verb, words: list[str]) -> int:
    command = verb.load()
    try:
        given = parse(command, words)
        if given.flag("help"):
            sys.stdout.write(help_text(program(), verb.name, verb.about, command))
            return 0
        out = _output(given)
        return command.run(given, out)
    except NotFoundError as error:
        _say(str(error))
        return 2
    except UsageError as error:
        _complain(str(error), usage(program(), verb.name, command))
        return 2
    except KafkaMessageError as error:
        _say(str(error))
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        place = f"{error.filename}: " if error.filename is not None else ""
        _say(f"{place}{error.strerror or error}")
        return 2


def _output(given: Given) -> Output:
    if given.flag("json") and given.flag("text"):
        raise UsageError("--json and --text exclude each other")
    is_json, show_secrets = given.flag("json"), given.flag("show-secrets")
    return Output(sys.stdout, is_json, given.text("color") or "auto", given.number("width"), show_secrets)


def _complain(what: str, how: str) -> None:
    _say(what)
    sys.stderr.write(f"usage: {how}\n")


def _say(what: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"{program()}: {what}\n")


def _overview() -> str:
    rows = verbs()
    width = max(len(verb.name) for verb in rows) + 2
    lines = [f"usage: {program()} SUBCOMMAND ...", "", "subcommands:"]
    lines += [f"  {verb.name:<{width}}{verb.about}" for verb in rows]
    lines += ["", f"{program()} SUBCOMMAND --help says more; --version says which package this is."]
    return "\n".join(lines) + "\n"
