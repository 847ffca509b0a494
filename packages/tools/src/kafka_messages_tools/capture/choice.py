"""Which exchanges somebody wants to see: by API, client and error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..package import DEFAULT, load
from .errors import errors_in
from .matching import Exchange


@dataclass(frozen=True)
class Choice:
    """What all is asked of an exchange. Within one of the three, what is listed are alternatives."""

    apis: frozenset[int] = frozenset()
    """API keys; none: any."""
    clients: frozenset[str] = frozenset()
    """Client ids; none: any."""
    errors: frozenset[int] | None = None
    """Error codes in the response, none of them: any but 0; None: with or without."""

    def fits(self, exchange: Exchange) -> bool:
        """Whether an exchange is chosen."""
        header = exchange.header
        if self.apis and (header is None or header.request_api_key not in self.apis):
            return False
        if self.clients and (header is None or header.client_id not in self.clients):
            return False
        if self.errors is None:
            return True
        found = () if exchange.response is None else errors_in(exchange.response.message, exchange.package)
        return any(not self.errors or error.code in self.errors for error in found)


def api_keys(texts: Iterable[str], package: str = DEFAULT) -> frozenset[int]:
    """API keys from numbers or names of APIs, in any case. Raises ValueError for a name that there is not."""
    names = {each.name.lower(): int(each.key) for each in load(package).module("protocol").apis()}
    return frozenset(_number(text, names, text.lower(), "API") for text in texts)


def error_codes(texts: Iterable[str], package: str = DEFAULT) -> frozenset[int]:
    """Error codes from numbers or names. Raises ValueError for a name that there is not."""
    names = {code.name: int(code) for code in load(package).module("protocol").ErrorCode}
    return frozenset(_number(text, names, text.upper().replace("-", "_"), "error") for text in texts)


def _number(text: str, names: dict[str, int], name: str, what: str) -> int:
    if text.removeprefix("-").isdecimal():
        return int(text)
    if name not in names:
        raise ValueError(f"no {what} has the name {text!r}")
    return names[name]
