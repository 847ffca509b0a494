"""What a rule does with a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kafka_messages.protocol import ErrorCode

Part: TypeAlias = Literal["records", "length", "checksum"]


@dataclass(frozen=True, slots=True)
class Fail:
    code: ErrorCode
    applied: bool

    def __str__(self) -> str:
        return f"fail {self.code.name}" + (" applied" if self.applied else "")


@dataclass(frozen=True, slots=True)
class Delay:
    seconds: float

    def __str__(self) -> str:
        return f"delay {self.seconds:g} s"


@dataclass(frozen=True, slots=True)
class Throttle:
    milliseconds: int

    def __str__(self) -> str:
        return f"throttle {self.milliseconds} ms"


@dataclass(frozen=True, slots=True)
class Disconnect:
    applied: bool
    after_bytes: int | None

    def __str__(self) -> str:
        if self.after_bytes is not None:
            return f"disconnect after {self.after_bytes} bytes"
        return "disconnect applied" if self.applied else "disconnect"


@dataclass(frozen=True, slots=True)
class Drop:
    def __str__(self) -> str:
        return "drop"


@dataclass(frozen=True, slots=True)
class Hold:
    def __str__(self) -> str:
        return "hold"


@dataclass(frozen=True, slots=True)
class Corrupt:
    part: Part
    offset: int | None

    def __str__(self) -> str:
        return f"corrupt {self.part}"


@dataclass(frozen=True, slots=True)
class Respond:
    function: Callable[[Any], Any]

    def __str__(self) -> str:
        return "respond"


@dataclass(frozen=True, slots=True)
class Change:
    function: Callable[[Any, Any], Any]

    def __str__(self) -> str:
        return "change"


@dataclass(frozen=True, slots=True)
class Observe:
    def __str__(self) -> str:
        return "observe"


Action: TypeAlias = Fail | Delay | Throttle | Disconnect | Drop | Hold | Corrupt | Respond | Change | Observe
