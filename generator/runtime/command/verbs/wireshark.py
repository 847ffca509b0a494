"""``wireshark``: a dissector in Lua, for the APIs and versions of this package."""

from __future__ import annotations

from .._options import Command, Given, Option, UsageError
from .._output import Output
from .._package import ERROR_FIELDS
from .._parts import PACKAGE, part


def run(given: Given, out: Output) -> int:
    """The text of the dissector, whatever the output is."""
    wireshark = part("wireshark")
    try:
        text = wireshark.dissector(given.text("name") or PACKAGE, given.text("ports") or wireshark.PORTS)
    except ValueError as error:
        raise UsageError(str(error)) from None
    out.line(text.rstrip("\n"))
    return 0


ERRORS = " or ".join(f"{PACKAGE}.{name} in {{-1, 1..32767}}" for name in ERROR_FIELDS)
"""The display filter that finds what ``capture --errors`` finds; ``!= 0`` misses packets with another code that is 0."""
_FILTER = f"\n\nThe display filter for responses with an error:\n{ERRORS}" if ERRORS else ""

COMMAND = Command(
    run,
    (),
    (
        Option("name", "name of the protocol, which fields in filters begin with", "NAME"),
        Option("ports", "TCP ports of brokers; other connections are found by what they say", "PORTS"),
    ),
    ("wireshark > kafka.lua", "wireshark --ports 9092,19092-19094 > kafka.lua"),
    "Put the file into Wireshark's folder of Lua plugins (Help, About, Folders), or run\n"
    "tshark -X lua_script:kafka.lua -r traffic.pcapng. The dissector shows everything, secrets too."
    f"{_FILTER}",
    is_fixed=True,
)
