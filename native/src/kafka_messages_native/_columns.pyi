from typing import Final

FORMAT: Final[int]
"""The format of plan texts that this extension reads."""

def fail_allocation(number: int, /) -> None: ...
