from collections.abc import Callable
from typing import Any, Final, Literal, final

FORMAT: Final[int]
"""Supported version of the plan text."""

@final
class Package:
    def __new__(
        cls,
        raw_tagged_field: type,
        zero_uuid: object,
        nulled: object,
        unset: object,
        as_derived: Callable[[Any, Any], object],
        make_plan: Callable[[Any], Plan | None],
        /,
    ) -> Package: ...

@final
class Plan:
    def __new__(cls, package: Package, text: str, classes: dict[str, Any], /) -> Plan: ...
    @property
    def declined(self) -> int: ...

@final
class Maker:
    def __new__(cls, plan: Plan, owner: type, /) -> Maker: ...

@final
class ReadMethod:
    def __new__(cls, package: Package, base: type, name: Literal["read", "read_from"], /) -> ReadMethod: ...
    def __get__(self, instance: object, owner: type | None = ...) -> Reader: ...
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...

@final
class Reader:
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...
    def __call__(self, *args: Any, **named: Any) -> Any: ...

@final
class WriteMethod:
    def __new__(cls, package: Package, base: type, name: Literal["write", "chunks", "size"], /) -> WriteMethod: ...
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...
    def __call__(self, *args: Any, **named: Any) -> Any: ...

def use_maker(cls: type, /) -> None: ...
def filled(cls: type, /, *values: object) -> Any: ...
