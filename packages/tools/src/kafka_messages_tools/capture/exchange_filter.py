"""Filter for exchanges by API, client and error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..package import DEFAULT, load
from .errors import errors_in
from .matching import Exchange


@dataclass(frozen=True)
class ExchangeFilter:
    """Filter conditions, all of which must hold; the elements of each set are alternatives."""

    apis: frozenset[int] = frozenset()
    """API keys; empty: any."""
    clients: frozenset[str] = frozenset()
    """Client ids; empty: any."""
    errors: frozenset[int] | None = None
    """Error codes in the response; empty: any error; None: no condition."""

    def fits(self, exchange: Exchange) -> bool:
        header = exchange.header
        if self.apis and (header is None or header.request_api_key not in self.apis):
            return False
        if self.clients and exchange.client_id not in self.clients:
            return False
        if self.errors is None:
            return True
        found = () if exchange.response is None else errors_in(exchange.response.message, exchange.package)
        return any(not self.errors or error.code in self.errors for error in found)


def api_keys(texts: Iterable[str], package: str = DEFAULT) -> frozenset[int]:
    """Return the keys of APIs given by key or by case-insensitive name. Raises ValueError for an unknown name."""
    names = {each.name.lower(): int(each.key) for each in load(package).module("protocol").apis()}
    return frozenset(_number(text, names, text.lower(), "API") for text in texts)


def error_codes(texts: Iterable[str], package: str = DEFAULT) -> frozenset[int]:
    """Return error codes given by number or by case-insensitive name. Raises ValueError for an unknown name."""
    names = {code.name: int(code) for code in load(package).module("protocol").ErrorCode}
    return frozenset(_number(text, names, text.upper().replace("-", "_"), "error") for text in texts)


def _number(text: str, names: dict[str, int], name: str, what: str) -> int:
    if text.removeprefix("-").isdecimal():
        return int(text)
    if name not in names:
        raise ValueError(f"unknown {what} {text!r}")
    return names[name]
