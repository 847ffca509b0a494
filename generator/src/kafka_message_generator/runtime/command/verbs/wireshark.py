"""``wireshark``: a dissector in Lua, for the APIs and versions of this package."""

from __future__ import annotations

from .._options import Command, Given, Option, UsageError
from .._output import Output
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


def error_filter() -> str:
    """Return the display filter that finds what ``capture --errors`` finds.

    ``error_code != 0`` misses packets with another code that is 0.
    """
    from .._package import ERROR_FIELDS

    return " or ".join(f"{PACKAGE}.{name} in {{-1, 1..32767}}" for name in ERROR_FIELDS)


def _more() -> str:
    text = (
        "Put the file into Wireshark's folder of Lua plugins (Help, About, Folders), or run\n"
        "tshark -X lua_script:kafka.lua -r traffic.pcapng. The dissector shows everything, secrets too."
    )
    found = error_filter()
    return f"{text}\n\nThe display filter for responses with an error:\n{found}" if found else text


COMMAND = Command(
    run,
    (),
    (
        Option("name", "name of the protocol, which fields in filters begin with", "NAME"),
        Option("ports", "TCP ports of brokers; other connections are found by what they say", "PORTS"),
    ),
    ("wireshark > kafka.lua", "wireshark --ports 9092,19092-19094 > kafka.lua"),
    _more,
    is_fixed=True,
)
