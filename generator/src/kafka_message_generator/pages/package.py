"""The generated package as the pages use it: what each byte of a sample is, and layouts in print."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Protocol

from kafka_message_generator.plan.model import MessagePlan


class PagesError(ValueError):
    """Why no pages can be made; the text says what to do."""


class Span(Protocol):
    """What the package says of some bytes."""

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
    """What the package says of a message's bytes."""

    data: bytes
    title: str
    root: Any
    error: Exception | None

    def rows(self, *, show_secrets: bool = False) -> Iterator[dict[str, object]]:
        """The leaves, without what is secret."""


class Package:
    """A generated package by its import name; raises PagesError if it cannot be imported or has no part ``explain``."""

    def __init__(self, name: str, program: str | None) -> None:
        self.name = name
        self.command = program or ("kafka-messages" if name == "kafka_messages" else f"kafka-messages --package {name}")
        self._explain = self.module("explain")

    def module(self, name: str) -> ModuleType:
        """A module of it."""
        try:
            return importlib.import_module(f"{self.name}.{name}")
        except ModuleNotFoundError as error:
            what = f"the pages show bytes by {self.name}.{name}, which cannot be imported: {error}"
            raise PagesError(f"{what}; install the generated package, with that part") from error

    def has(self, name: str) -> bool:
        """Whether it has a part."""
        return importlib.util.find_spec(f"{self.name}.{name}") is not None

    def message(self, name: str) -> Any:
        """A message class."""
        return getattr(importlib.import_module(self.name), name)

    def check(self, plan: MessagePlan) -> None:
        """Raise PagesError if the message of the package is not that of the definitions."""
        found = getattr(importlib.import_module(self.name), plan.name, None)
        if found is None or found._facts != plan.facts:
            what = f"has {'another' if found else 'no'} {plan.name}"
            raise PagesError(f"the installed {self.name} {what}; install what these definitions give")

    def explain(self, data: bytes, name: str, version: int, *, records: bool = False) -> Explanation:
        """What the bytes of a message are. Raises PagesError if they are not all of it."""
        return _whole(self._explain.explain(data, self.message(name), version, records=records))

    def explain_request(self, frame: bytes, *, records: bool = False) -> Explanation:
        """The same of a request behind its length and header."""
        return _whole(self._explain.explain_request(frame, framed=True, records=records))

    def explain_response(self, frame: bytes, name: str, version: int, *, records: bool = False) -> Explanation:
        """The same of a response behind its length and header."""
        return _whole(self._explain.explain_response(frame, self.message(name), version, framed=True, records=records))

    def bnf(self, name: str, version: int) -> str:
        """The layout of a version in the form of Kafka's protocol guide."""
        text: str = self.message(name).schemas()[version].bnf(f"{name} (Version: {version})")
        return text.rstrip("\n")


def _whole(found: Explanation) -> Explanation:
    if found.error is not None:
        raise PagesError(f"a sample cannot be read: {found.error}")
    return found
