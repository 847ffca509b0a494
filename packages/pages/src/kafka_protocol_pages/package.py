"""Interface to the generated package, which explains bytes and formats layouts as BNF."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Protocol

from kafka_message_generator.plan.model import MessagePlan


class PagesError(ValueError):
    """Raised if the site cannot be written."""


class Span(Protocol):
    start: int
    end: int
    path: str
    name: str
    type: str
    role: str
    value: object
    note: str
    is_secret: bool
    children: list[Any]


class Explanation(Protocol):
    data: bytes
    title: str
    root: Any
    error: Exception | None

    def rows(self, *, show_secrets: bool = False) -> Iterator[dict[str, object]]:
        """Yield the leaf fields; secrets are redacted unless ``show_secrets``."""


class Package:
    """A generated package. Raises PagesError if the package or its component ``explain`` is not installed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.command = "kafka-messages" if name == "kafka_messages" else f"kafka-messages --package {name}"
        self._explain = self.module("explain")

    def module(self, name: str) -> ModuleType:
        try:
            return importlib.import_module(f"{self.name}.{name}")
        except ModuleNotFoundError as error:
            what = f"cannot import {self.name}.{name}, which the pages need: {error}"
            raise PagesError(f"{what}; install the generated package with this component") from error

    def has(self, name: str) -> bool:
        return importlib.util.find_spec(f"{self.name}.{name}") is not None

    def message(self, name: str) -> Any:
        return getattr(importlib.import_module(self.name), name)

    def check(self, plan: MessagePlan) -> None:
        """Raise PagesError unless the package has the same definition of the message."""
        found = getattr(importlib.import_module(self.name), plan.name, None)
        if found is None or found._descriptor != plan.descriptor:
            what = f"has {'a different definition of' if found else 'no'} {plan.name}"
            raise PagesError(f"the installed {self.name} {what}; install the package generated from these definitions")

    def explain(self, data: bytes, name: str, version: int, *, records: bool = False) -> Explanation:
        """Explain a message without a header. Raises PagesError if it cannot be decoded."""
        return _whole(self._explain.explain(data, self.message(name), version, records=records))

    def explain_request(self, frame: bytes, *, records: bool = False) -> Explanation:
        return _whole(self._explain.explain_request(frame, framed=True, records=records))

    def explain_response(self, frame: bytes, name: str, version: int, *, records: bool = False) -> Explanation:
        return _whole(self._explain.explain_response(frame, self.message(name), version, framed=True, records=records))

    def bnf(self, name: str, version: int) -> str:
        """Return the layout of a version as BNF, as in Kafka's protocol guide."""
        text: str = self.message(name).schemas()[version].bnf(f"{name} (Version: {version})")
        return text.rstrip("\n")


def _whole(found: Explanation) -> Explanation:
    if found.error is not None:
        raise PagesError(f"sample of {found.title} cannot be decoded: {found.error}")
    return found
