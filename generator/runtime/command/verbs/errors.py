"""``errors``: the error codes."""

from __future__ import annotations

from .._options import Argument, Command, Given, UsageError, meant
from .._output import Output
from .._parts import part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(given: Given, out: Output) -> int:
    """All error codes, or those given by number or part of the name. Raises UsageError for one that there is not."""
    protocol = part("protocol")
    codes = list(protocol.ErrorCode)
    words = given.every("code")
    found = [code for word in words for code in _matching(word, codes)] if words else codes
    if out.is_json:
        for code in found:
            out.record({"code": int(code), "name": code.name, "retriable": protocol.is_retriable(code)})
    else:
        rows = [(int(code), code.name, "retriable" if protocol.is_retriable(code) else "") for code in found]
        out.table(("code", "name", ""), rows)
    return 0


def _matching(word: str, codes: list[Any]) -> list[Any]:
    """The codes with a number, a name, or else with a part of a name."""
    name = word.upper().replace("-", "_")
    exact = [code for code in codes if code.name == name or str(int(code)) == word]
    found = exact or [code for code in codes if name in code.name and not word.lstrip("-").isdigit()]
    if not found:
        raise UsageError(f"no error has the code or name {word!r}{meant(word, [code.name for code in codes])}")
    return found


COMMAND = Command(
    run,
    (Argument("code", "numbers or names", is_optional=True, is_repeated=True, completes="error"),),
    (),
    ("errors 35", "errors NOT_COORDINATOR", "errors -- -1"),
)
