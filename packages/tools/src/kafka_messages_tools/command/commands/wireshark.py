"""Subcommand ``wireshark``: Lua dissector for the APIs and versions of the package."""

from __future__ import annotations

from ...wireshark import PORTS, dissector
from .._errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ...package import Package
    from .._output import Output

EXAMPLES = ("wireshark > kafka.lua", "wireshark --ports 9092,19092-19094 > kafka.lua")
MORE = (
    "Put the file into Wireshark's folder of Lua plugins (Help, About, Folders), or run\n"
    "tshark -X lua_script:kafka.lua -r traffic.pcapng. Secrets are redacted unless the preference\n"
    '"Show secrets" is set: tshark -o kafka_messages.show_secrets:TRUE.'
)
HAS_OUTPUT_OPTIONS = False


def add_arguments(parser: ArgumentParser) -> None:
    about = "name of the protocol, and prefix of the field names in filters"
    parser.add_argument("--name", metavar="NAME", help=about)
    about = "TCP ports of brokers; other connections are detected by content"
    parser.add_argument("--ports", metavar="PORTS", default=PORTS, help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    name = given.name or package.name
    try:
        text = dissector(name, given.ports, package.name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    out.line(text.rstrip("\n"))
    return 0
