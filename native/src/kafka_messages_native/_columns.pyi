from typing import Any, Final, TypeAlias

FORMAT: Final[int]
"""The format of plan texts that this extension reads."""

Capsules: TypeAlias = tuple[object, object]
"""An ArrowSchema and an ArrowArray, as ``__arrow_c_array__`` gives them."""

def plan(text: str, has_unknown: bool, /) -> Any: ...
def decode(
    plan: Any,
    schema: object,
    array: object,
    version: int | Capsules | None,
    options: int,
    trailing: str | None,
    corrupt: str | None,
    /,
) -> Capsules | int | None: ...
def encode(plan: Any, schema: object, array: object, version: int, prefix: bool, /) -> Capsules | int | None: ...
def fail_allocation(number: int, /) -> None: ...
