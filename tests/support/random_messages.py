"""The generated packages by name, and random messages of each class."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_messages import Message
from kafka_messages.schema.descriptors import MessageDescriptor

PACKAGES = ("kafka_messages", "kafka_messages_proposals")


@dataclass(frozen=True)
class Package:
    """A generated package; types are those of ``kafka_messages`` for type checkers, and its own at run time."""

    name: str

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{self.name}.{name}")

    @property
    def message_names(self) -> list[str]:
        modules: dict[str, str] = importlib.import_module(self.name)._MODULES
        return sorted(name for name, module in modules.items() if module.startswith("messages."))

    def message(self, name: str) -> Any:
        return getattr(importlib.import_module(self.name), name)

    def descriptor_of(self, message: type[Message]) -> MessageDescriptor:
        descriptor: MessageDescriptor = self.module("schema.descriptors").descriptor_of(message)
        return descriptor


def package_of(message: type[Message]) -> Package:
    return Package(message.__module__.partition(".")[0])


def versions_of(message: type[Message]) -> range:
    return range(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION + 1)


def messages(message: type[Message], version: int, seed: int = 0, mixed: int = 3) -> Iterator[Message]:
    """Return random messages of a class: one full, one with nulls, and ``mixed`` others."""
    found: Iterator[Message] = package_of(message).module("testing").random_messages(message, version, seed, mixed)
    return found


def random_message(message: type[Message], version: int, seed: str, **chances: float) -> Any:
    """Return one random message of a class with other probabilities than the default."""
    module = package_of(message).module("testing.message_generator")
    return module.MessageGenerator(message, version, random.Random(seed), module.Chances(**chances)).message()


# Probabilities with which every field of the version is set and not empty.
FULL = {"null": 0.0, "default": 0.0, "unknown": 1.0, "empty": 0.0}
