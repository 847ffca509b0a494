"""Typed access to the properties of a JSON object, with suggestions for misspelled names."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kafka_message_generator.spec.source import Location, Misspelling, Node, Problems
from kafka_message_generator.spec.suggestions import did_you_mean, suggestion
from kafka_message_generator.spec.versions import NONE, Versions, VersionsError

_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,20})\s*")
_WORDS_FOR_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Missing(Exception):
    """Raised for a missing required property or a value that is no object, after recording the problem."""


@dataclass
class Properties:
    """The properties of a JSON object; ``finish`` reports the unknown ones."""

    node: Node
    what: str
    problems: Problems
    with_optional: Versions = NONE  # versions with optional-field buffers

    def __post_init__(self) -> None:
        if not isinstance(self.node.value, dict):
            self.problems.error(self.node.location, f"{self.what} must be a JSON object, found {self.node.kind}")
            raise Missing
        self.members = self.node.value
        self.known: set[str] = set()
        self.quoted: dict[str, tuple[str, Location]] = {}

    def inside(self, node: Node, what: str) -> Properties:
        return Properties(node, what, self.problems, self.with_optional)

    @property
    def places(self) -> dict[str, Location]:
        return {key: node.location for key, node in self.members.items() if node.value is not None}

    def take(self, key: str) -> Node | None:
        """Return the value of a property, or None if it is missing or null; mark the key as known."""
        self.known.add(key)
        node = self.members.get(key)
        return None if node is None or node.value is None else node

    def wrong(self, node: Node, expected: str) -> None:
        self.problems.error(node.location, f"expected {expected}, found {node.kind} {short(node)}")

    def text(self, key: str) -> str | None:
        """Read a string; numbers and booleans are converted, as in Kafka's generator."""
        node = self.take(key)
        if node is None:
            return None
        if isinstance(node.value, bool):
            return "true" if node.value else "false"
        if isinstance(node.value, (str, int, float)):
            return str(node.value)
        self.wrong(node, "a string")
        return None

    def required(self, key: str) -> str:
        text = self.text(key)
        if text is None or not text.strip():
            if not self.problems.has_error_at(self.places.get(key)):
                place = self.places.get(key, self.node.location)
                self.problems.error(place, f"{self.what} has no {key}; add it")
            raise Missing
        return text

    def integer(self, key: str, bits: int) -> int | None:
        node = self.take(key)
        if node is None or node.value == "":
            return None
        number: int | None = None
        if isinstance(node.value, str) and (match := _INTEGER.fullmatch(node.value)):
            number = int(match[1])
            self.quoted[key] = (node.value, node.location)
        elif isinstance(node.value, int) and not isinstance(node.value, bool):
            number = node.value
        if number is None:
            self.wrong(node, f"an int{bits}")
        elif not -(1 << bits - 1) <= number < 1 << bits - 1:
            self.problems.error(node.location, f"{number} is out of range for {key}, an int{bits}")
            return None
        return number

    def boolean(self, key: str) -> bool:
        node = self.take(key)
        if node is None or node.value == "":
            return False
        if isinstance(node.value, bool):
            return node.value
        if isinstance(node.value, str) and node.value in _WORDS_FOR_BOOLEAN:
            self.quoted[key] = (node.value, node.location)
            return _WORDS_FOR_BOOLEAN[node.value]
        if isinstance(node.value, int):
            return node.value != 0
        self.wrong(node, "true or false")
        return False

    def versions(self, key: str) -> Versions | None:
        """Read a version range; return None if it is missing or blank, and NONE if it is invalid."""
        text = self.text(key)
        if text is None or not text.strip():
            return None
        try:
            return Versions.parse(text)
        except VersionsError as error:
            self.problems.error(self.members[key].location, str(error))
            return NONE

    def nodes(self, key: str) -> list[Node]:
        """Return the elements of a list, none if it is missing; any other value counts as a list of one element."""
        node = self.take(key)
        if node is None:
            return []
        return node.value if isinstance(node.value, list) else [node]

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        text = self.text(key)
        if text is None:
            return default
        if text not in choices:
            advice = did_you_mean(text, choices, f"use one of {', '.join(choices)}")
            self.problems.error(self.members[key].location, f"unknown {key} {text!r}; {advice}")
            return default
        return text

    def finish(self) -> None:
        """Report unknown properties."""
        known = f"expected one of {', '.join(sorted(self.known))}"
        for key in self.members.keys() - self.known:
            self._unknown(key, did_you_mean(key, self.known - self.members.keys(), known))

    def _unknown(self, key: str, advice: str) -> None:
        tell = self.problems.warn if self.problems.is_released else self.problems.error
        tell(self.members[key].location, f"unknown property {key!r} of {self.what}; {advice}")

    def misspellings(self) -> dict[str, str]:
        """Map unknown properties to similar known ones that are missing. Empty for released definitions."""
        if self.problems.is_released:
            return {}
        missing = self.known - self.members.keys()
        found = {key: suggestion(key, missing) for key in self.members if key not in self.known}
        return {key: name for key, name in found.items() if name is not None}

    def corrected(self, misspelt: dict[str, str]) -> Misspelling:
        """Return the object with misspelled properties renamed, and the problems to report."""
        before = len(self.problems.found)
        for key, name in misspelt.items():
            self._unknown(key, f"did you mean {name}?")
        reported = tuple(self.problems.found[before:])
        del self.problems.found[before:]
        members = {misspelt.get(key, key): node for key, node in self.members.items()}
        return Misspelling(self.node, Node(members, self.node.location), reported)


T = TypeVar("T")


def with_suggestions(read: Callable[[Properties], T]) -> Callable[[Properties], T]:
    """Decorate ``read`` to read a misspelled property under the suggested name, so that it causes only one problem."""

    def read_again(properties: Properties) -> T:
        problems, node = properties.problems, properties.node
        if id(node) not in problems.misspellings:
            before = len(problems.found)
            result = None
            with contextlib.suppress(Missing):
                result = read(properties)
            misspelt = properties.misspellings()
            if not misspelt:
                if result is None:
                    raise Missing
                return result
            del problems.found[before:]
            problems.misspellings[id(node)] = properties.corrected(misspelt)
        known = problems.misspellings[id(node)]
        problems.found += known.problems
        return read_again(properties.inside(known.corrected, properties.what))

    return read_again


def short(node: Node) -> str:
    text = repr(node.plain())
    return text if len(text) <= 40 else text[:37] + "..."
