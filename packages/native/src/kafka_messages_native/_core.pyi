from collections.abc import Callable
from typing import Any, Final, Literal, final

FORMAT: Final[int]
"""The format of plan texts that this core reads."""

@final
class Package:
    def __new__(cls, raw_tagged_field: type, zero_uuid: object, nulled: object, unset: object, /) -> Package: ...

@final
class Plan:
    def __new__(cls, package: Package, text: str, classes: dict[str, Any], /) -> Plan: ...

@final
class Maker:
    def __new__(cls, plan: Plan, owner: type, /) -> Maker: ...

class _Call:
    @property
    def declined(self) -> int: ...
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...
    def __call__(self, *args: Any, **named: Any) -> Any: ...

@final
class Reader(_Call):
    def __new__(
        cls,
        plan: Plan,
        owner: type,
        name: Literal["read", "read_from"],
        pure: Callable[..., Any],
        derived: Callable[..., Any] = ...,
        /,
    ) -> Reader: ...

@final
class Writer(_Call):
    def __new__(
        cls, plan: Plan, owner: type, name: Literal["write", "chunks", "size"], pure: Callable[..., Any], /
    ) -> Writer: ...

def set_constructor(cls: type, is_native: bool, /) -> None: ...
def filled(cls: type, /, *values: object) -> Any: ...
