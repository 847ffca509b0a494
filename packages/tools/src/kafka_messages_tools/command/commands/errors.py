"""Subcommand ``errors``: error codes."""

from __future__ import annotations

from ...text import suggestion
from .._errors import NotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from ...package import Package
    from .._output import Output

EXAMPLES = ("errors 35", "errors NOT_COORDINATOR", "errors -1", "errors 16 --fields")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("code", nargs="*", help="error codes, by number or name")
    about = "also print the error code fields of all messages"
    parser.add_argument("--fields", action="store_true", help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    protocol, history = package.module("protocol"), package.optional("history")
    codes = list(protocol.ErrorCode)
    words = given.code
    if given.fields:
        out.wrap_pipe(80)
    former = {name: code for code in codes for name in _former_names(code, history)}
    found = [code for word in words for code in _matching(word, codes, former)] if words else codes
    if out.is_json:
        for code in found:
            descriptor = {"code": int(code), "name": code.name, "retriable": protocol.is_retriable(code)}
            out.record(descriptor | {"about": code.description} | _history_of(code, history))
    else:
        since = [] if history is None else ["since"]
        rows = [
            (int(code), code.name, *(_since(code, history) for _ in since), _notes(code, protocol, history))
            for code in found
        ]
        out.table(("code", "name", *since, ""), rows)
    if words and not out.is_json:
        for code in found:
            out.line()
            out.wrapped(f"{code.name}: {code.description}" if code.description else f"{code.name}: no description")
    if given.fields:
        from .._fields import print_rows, rows_with

        if not out.is_json:
            out.line()
        print_rows(rows_with(package, lambda row: row.descriptor.is_error_code, out), out)
    return 0


def _notes(code: Any, protocol: Any, history: Any) -> str:
    former = [f"was {name} until {history.error_code_until(name)}" for name in _former_names(code, history)]
    return ", ".join([*(["retriable"] if protocol.is_retriable(code) else []), *former])


def _since(code: Any, history: Any) -> str:
    found: str | None = history.error_code_since(int(code))
    return found or ""


def _former_names(code: Any, history: Any) -> list[str]:
    names = () if history is None else history.error_code_names(int(code))
    return [name for name in names if name != code.name]


def _history_of(code: Any, history: Any) -> dict[str, object]:
    return {} if history is None else {"since": _since(code, history), "former_names": _former_names(code, history)}


def _matching(word: str, codes: list[Any], former: dict[str, Any]) -> list[Any]:
    name = word.upper().replace("-", "_")
    exact = [code for code in codes if name == code.name or former.get(name) == code or str(int(code)) == word]
    found = exact or [code for code in codes if name in code.name and not word.lstrip("-").isdigit()]
    if not found:
        raise NotFoundError(f"unknown error {word!r}{suggestion(word, [*(code.name for code in codes), *former])}")
    return found
