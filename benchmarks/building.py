"""Message construction in one expression of nested constructor calls.

Repeated structs become comprehensions such as ``[Topic(name=name) for (name,) in topics]`` over prepared values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from workloads import Body, Value, Workload


def _as_it_is(name: str, value: Value) -> object:
    return value


@dataclass(frozen=True)
class Constructor:
    """Construction of a struct by a codec.

    ``keywords`` maps fields to renamed keywords. ``convert`` returns a field's value in the codec's types. ``first``
    are constant arguments such as ``version=12``.
    """

    call: Callable[..., object]
    keywords: Mapping[str, str] = field(default_factory=dict)
    convert: Callable[[str, Value], object] = _as_it_is
    first: tuple[str, ...] = ()


# Constructor of a struct by the path of struct names from the outermost; () is the message.
Constructors: TypeAlias = Callable[[tuple[str, ...]], Constructor]


@dataclass(frozen=True)
class Building:
    """Statement that assigns ``message``, the names it reads, and a message that it built."""

    statement: str
    names: Mapping[str, object]
    message: object


def building(
    workload: Workload, constructors: Constructors, sequence: Callable[[str], str] = "[{}]".format
) -> Building:
    printer = _Printer(workload, constructors, sequence)
    body = workload.body()
    expression = printer.expression((), body)
    names = {**printer.classes, "plain": printer.plain((), body)}
    statement = f"{_targets(body)} = plain; message = {expression}"
    variables = dict(names)
    exec(statement, variables)
    return Building(statement, names, variables["message"])


def _targets(body: Body) -> str:
    return f"({', '.join(body)},)"


class _Printer:
    def __init__(self, workload: Workload, constructors: Constructors, sequence: Callable[[str], str]) -> None:
        self.workload = workload
        self.sequence = sequence
        self.classes: dict[str, object] = {}
        self._constructors = constructors
        self._known: dict[tuple[str, ...], Constructor] = {}

    def expression(self, path: tuple[str, ...], body: Body) -> str:
        # Variables have the names of the fields; ``body`` is any struct of its kind.
        constructor = self._constructor(path)
        name = path[-1] if path else self.workload.message
        self.classes[name] = constructor.call
        arguments = list(constructor.first)
        for key, value in body.items():
            argument = key
            if elements := self._structs(key, value):
                inner = self.expression((*path, self.workload.structs[key]), elements[0])
                argument = self.sequence(f"{inner} for {_targets(elements[0])} in {key}")
            arguments.append(f"{constructor.keywords.get(key, key)}={argument}")
        return f"{name}({', '.join(arguments)})"

    def plain(self, path: tuple[str, ...], body: Body) -> tuple[object, ...]:
        constructor = self._constructor(path)
        values: list[object] = []
        for key, value in body.items():
            if elements := self._structs(key, value):
                inner = (*path, self.workload.structs[key])
                values.append([self.plain(inner, element) for element in elements])
            else:
                values.append(constructor.convert(key, value))
        return tuple(values)

    def _structs(self, key: str, value: Value) -> list[Body]:
        # All structs have the fields of the first.
        if key not in self.workload.structs or not isinstance(value, list):
            return []
        return [element for element in value if isinstance(element, dict)]

    def _constructor(self, path: tuple[str, ...]) -> Constructor:
        if path not in self._known:
            self._known[path] = self._constructors(path)
        return self._known[path]
