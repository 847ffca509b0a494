"""What an adapter gives the worker: a built message and the statements that decode and encode one.

Statements and not callables, as in ``timeit``: the smallest message decodes in 0.3 µs, and calling through a lambda
would add a tenth to that. Each adapter module has ``DISTRIBUTION``, the installed distribution whose version is
reported, and ``prepare(workload) -> Case``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from workloads import Body, Workload

Operation: TypeAlias = Literal["decode", "encode"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

# (struct names from the outermost to this one, values by field name) -> the codec's object. The message: ().
Make: TypeAlias = Callable[[tuple[str, ...], dict[str, object]], object]


@dataclass(frozen=True)
class Case:
    """One workload in one codec's terms.

    ``decode`` reads the variable ``data`` (always ``bytes``) and assigns ``message``; ``encode`` the other way round.
    ``names`` are the other names in the statements: looked up or built once, as a program that encodes more than one
    message would.
    """

    message: object
    decode: str
    encode: str
    names: Mapping[str, object]


def construct(workload: Workload, make: Make) -> object:
    """Build a workload's message out of a codec's classes, innermost structs first."""

    def struct(path: tuple[str, ...], body: Body) -> object:
        values: dict[str, object] = dict(body)
        for field, name in workload.structs.items():
            elements = body.get(field)
            if isinstance(elements, list):
                values[field] = [struct((*path, name), element) for element in elements if isinstance(element, dict)]
        return make(path, values)

    return struct((), workload.body())
