"""``errors``: the error codes."""

from __future__ import annotations

from .._fields import rows_with, tell
from .._options import Argument, Command, Given, NotFoundError, Option, meant
from .._output import Output
from .._parts import has_part, part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(given: Given, out: Output) -> int:
    """All error codes, or those given by number or part of the name; and the fields that can hold one.

    Raises NotFoundError for a code that there is not.
    """
    protocol = part("protocol")
    codes = list(protocol.ErrorCode)
    words = given.every("code")
    found = [code for word in words for code in _matching(word, codes)] if words else codes
    if out.is_json:
        for code in found:
            facts = {"code": int(code), "name": code.name, "retriable": protocol.is_retriable(code)}
            out.record(facts | {"about": code.description} | _history_of(code))
    elif has_part("history"):
        out.table(("code", "name", "since", ""), [(int(code), code.name, _since(code), _notes(code)) for code in found])
    else:
        out.table(("code", "name", ""), [(int(code), code.name, _notes(code)) for code in found])
    if words and not out.is_json:
        for code in found:
            out.line()
            out.wrapped(f"{code.name}: {code.description}" if code.description else f"{code.name}: no description")
    if given.flag("fields"):
        if not out.is_json:
            out.line()
        tell(rows_with(lambda row: row.facts.is_error_code, out), out)
    return 0


def _notes(code: Any) -> str:
    former = [f"was {name} until {part('history').error_code_until(name)}" for name in _former_names(code)]
    return ", ".join([*(["retriable"] if part("protocol").is_retriable(code) else []), *former])


def _since(code: Any) -> str:
    """The first release of Kafka that has an error code; empty where no release is known to have it."""
    found: str | None = part("history").error_code_since(int(code))
    return found or ""


def _former_names(code: Any) -> list[str]:
    """What older releases call it."""
    names = part("history").error_code_names(int(code)) if has_part("history") else ()
    return [name for name in names if name != code.name]


def _history_of(code: Any) -> dict[str, object]:
    return {"since": _since(code), "former_names": _former_names(code)} if has_part("history") else {}


def _matching(word: str, codes: list[Any]) -> list[Any]:
    """The codes with a number, a name, or else with a part of a name."""
    name = word.upper().replace("-", "_")
    exact = [code for code in codes if code.name == name or str(int(code)) == word]
    found = exact or [code for code in codes if name in code.name and not word.lstrip("-").isdigit()]
    if not found:
        raise NotFoundError(f"no error has the code or name {word!r}{meant(word, [code.name for code in codes])}")
    return found


COMMAND = Command(
    run,
    (Argument("code", "numbers or names", is_optional=True, is_repeated=True, completes="error"),),
    (Option("fields", "also the fields that can hold an error code, in all messages"),),
    ("errors 35", "errors NOT_COORDINATOR", "errors -1", "errors 16 --fields"),
)
