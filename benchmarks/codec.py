"""What an adapter gives the worker: a built message and the statements that do something with one.

Statements and not callables, as in ``timeit``: the smallest message decodes in 0.1 µs, and calling through a lambda
would add a third to that. Each adapter module has ``DISTRIBUTION``, the installed distribution whose version is
reported, and ``prepare(workload) -> Case``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

Operation: TypeAlias = Literal["decode", "encode", "build", "build+encode", "decode+header", "encode+header"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
RESULTS: Mapping[Operation, str] = {
    "decode": "message",
    "encode": "data",
    "build": "message",
    "build+encode": "message, data",
    "decode+header": "message",
    "encode+header": "data",
}
"""The variables that each operation's statement assigns; both mean that the message is built, then encoded."""


@dataclass(frozen=True)
class Case:
    """One workload in one codec's terms.

    ``decode`` reads the variable ``data`` (always ``bytes``) and assigns ``message``; ``encode`` the other way round;
    ``more`` are the other operations that the codec has. ``names`` are the other names in the statements: looked up or
    built once, as a program that encodes more than one message would.
    """

    message: object
    decode: str
    encode: str
    names: Mapping[str, object]
    more: Mapping[Operation, str] = field(default_factory=dict)

    @property
    def statements(self) -> Mapping[Operation, str]:
        """All statements by operation."""
        return {"decode": self.decode, "encode": self.encode, **self.more}
