"""Subcommand ``guess``: candidate messages and versions for some bytes."""

from __future__ import annotations

from .._input import read_bytes
from .._subject import BYTES, add_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ...package import Package
    from .._output import Output

MOST = 5

EXAMPLES = ("guess unknown.bin", "guess '00 12 00 03 00 00 00 07 00 02 6d 65 00 03 6d 65 02 31 00'")
MORE = "Short input matches many messages. A request header identifies the message; a response header does not."


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("bytes", nargs="?", help=BYTES)
    add_form(parser)


def run(given: Namespace, out: Output, package: Package) -> int:
    from .._detection import Guesser

    data = read_bytes(given.bytes, given.form)
    guesser = Guesser(package, data)
    found = guesser.requests()
    named = package.root.all_messages()
    with out.progress("messages", len(named)) as progress:
        for each in named:
            progress.step()
            found += guesser.messages(each)
    found.sort(key=lambda guess: (-guess.score, guess.what))
    looks_like = package.foreign_protocol(data)
    if looks_like and not out.is_json and not (found and "frame length" in looks_like):
        out.line(f"this looks like {looks_like}")
    for guess in found[:MOST]:
        if out.is_json:
            out.record(
                {
                    "message": guess.message,
                    "versions": guess.versions,
                    "before": guess.before,
                    "score": round(guess.score, 1),
                    "reasons": list(guess.reasons),
                }
            )
        else:
            out.line(out.styled(guess.what, "name"))
            out.wrapped(f"  {'; '.join(guess.reasons)}", "  ")
    if not found and not out.is_json:
        out.line("no message of this package decodes these bytes completely and re-encodes them")
    return 0 if found else 1
