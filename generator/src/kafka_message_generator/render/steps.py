"""Statements of generated code, one class per template macro."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kafka_message_generator.render.code import Part


@dataclass(frozen=True)
class Step:
    kind: ClassVar[str] = ""


@dataclass(frozen=True)
class Assign(Step):
    kind = "assign"
    target: Part
    value: Part


@dataclass(frozen=True)
class Do(Step):
    kind = "do"
    code: Part


@dataclass(frozen=True)
class Choose(Step):
    """An ``if`` chain; a branch with an empty condition is the ``else``."""

    kind = "choose"
    branches: tuple[tuple[Part, tuple[Step, ...]], ...]


@dataclass(frozen=True)
class Unpack(Step):
    kind = "unpack"
    targets: str
    method: Part
    width: int


@dataclass(frozen=True)
class Function:
    """Generated function; ``loop`` is the ``for`` or ``while`` line around ``steps`` and ``loop_end``, if any."""

    name: str
    parameters: Part
    returns: Part
    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()
    loop: str = ""
    loop_end: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
