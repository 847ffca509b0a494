"""The printed statements of a function, one kind a class; every expression in them is already there.

Each class is printed by the template macro of its ``kind``; a macro decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kafka_message_generator.render.code import Part


@dataclass(frozen=True)
class Step:
    """One statement or small group of statements."""

    kind: ClassVar[str] = ""


@dataclass(frozen=True)
class Assign(Step):
    """``target = value``"""

    kind = "assign"
    target: Part
    value: Part


@dataclass(frozen=True)
class Do(Step):
    """A statement as it stands."""

    kind = "do"
    code: Part


@dataclass(frozen=True)
class Choose(Step):
    """An if chain: pairs of condition and body, the condition of a closing else is empty."""

    kind = "choose"
    branches: tuple[tuple[Part, tuple[Step, ...]], ...]


@dataclass(frozen=True)
class Unpack(Step):
    """Fixed-width values at ``pos``."""

    kind = "unpack"
    targets: str
    method: Part
    width: int


@dataclass(frozen=True)
class Function:
    """A printed function; ``loop`` is the head of the loop around its body, if there is one."""

    name: str
    parameters: Part
    returns: Part
    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()
    loop: str = ""
    loop_end: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
