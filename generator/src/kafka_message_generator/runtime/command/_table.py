"""The subcommands: where each lives, what it is for in a line, and which optional parts of the package it needs."""

from __future__ import annotations

from .._core.optional import module
from .._core.value import dataclass
from ._parts import has_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._options import Command


@dataclass(frozen=True, slots=True)
class Verb:
    """A subcommand. Its module has the name ``COMMAND``: arguments, options and the function that runs it."""

    name: str
    module: str
    """Relative to the package."""
    about: str
    parts: tuple[str, ...] = ()
    """Optional parts of the package without which it is not there."""

    def load(self) -> Command:
        """What it takes and does, imported now."""
        command: Command = module(self.module).COMMAND
        return command


VERBS = (
    Verb("explain", "command.verbs.explain", "what each byte of a message is"),
    Verb("decode", "command.verbs.decode", "bytes to JSON"),
    Verb("encode", "command.verbs.encode", "JSON to bytes"),
    Verb("guess", "command.verbs.guess", "which message and version could these bytes be"),
    Verb("diff", "command.verbs.diff", "two versions of a message, or two messages"),
    Verb("log", "command.verbs.log", "records of a log segment or a snapshot"),
    Verb("show", "command.verbs.show", "fields of a message across its versions"),
    Verb("list", "command.verbs.list", "messages: keys, versions, headers"),
    Verb("apis", "command.verbs.apis", "APIs: keys, versions, listeners, headers", ("protocol",)),
    Verb("capture", "command.verbs.capture", "captured traffic: requests with their responses, clients", ("capture",)),
    Verb("wireshark", "command.verbs.wireshark", "a dissector for Wireshark and tshark", ("wireshark",)),
    Verb("errors", "command.verbs.errors", "error codes by number or name", ("protocol",)),
    Verb("tags", "command.verbs.tags", "tagged fields of all messages"),
    Verb("completion", "command.verbs.completion", "a script that completes command lines in bash, zsh or fish"),
)
"""In the order of the help."""


def verbs() -> list[Verb]:
    """The subcommands of this package: those whose parts it has."""
    return [verb for verb in VERBS if all(map(has_part, verb.parts))]
