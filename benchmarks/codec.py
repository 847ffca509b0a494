"""Interface of adapters: a built message and statements to time.

Each adapter module has ``DISTRIBUTION``, the measured distribution, and ``prepare(workload) -> Case``. Statements avoid
the cost of a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

Operation: TypeAlias = Literal["decode", "encode", "build+encode"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
# Variables that the statement of each operation assigns; with both, the message is built, then encoded.
RESULTS: Mapping[Operation, str] = {
    "decode": "message",
    "encode": "data",
    "build+encode": "message, data",
}


@dataclass(frozen=True)
class Case:
    """Workload in the terms of a codec.

    ``decode`` reads the variable ``data`` (``bytes``) and assigns ``message``; ``encode`` does the reverse. ``more``
    has other operations, ``names`` further names in the statements.
    """

    message: object
    decode: str
    encode: str
    names: Mapping[str, object]
    more: Mapping[Operation, str] = field(default_factory=dict)

    @property
    def statements(self) -> Mapping[Operation, str]:
        return {"decode": self.decode, "encode": self.encode, **self.more}
