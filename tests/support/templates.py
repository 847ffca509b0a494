"""Recording of the template branches taken, for the test that samples reach all of them."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable

import jinja2
import pytest
from jinja2 import nodes

LINE, TEST, LOOP = "_probe_line", "_probe_test", "_probe_loop"


class Branches:
    """A copy of a template environment that reports every line, test and loop."""

    def __init__(self, environment: jinja2.Environment) -> None:
        self.original = environment
        self.seen: dict[str, set[bool]] = {}
        self.texts: dict[str, str] = {}
        self.wanted: dict[str, set[bool]] = {}
        self.environment = environment.overlay(cache_size=100)
        self.environment.globals = {**environment.globals, LINE: self._line, TEST: self._test, LOOP: self._loop}
        parse: Callable[[str, str | None, str | None], nodes.Template] = self.environment._parse

        def instrumented(source: str, name: str | None, filename: str | None) -> nodes.Template:
            return self._instrument(parse(source, name, filename), name or "", source.splitlines())

        # Jinja calls this for each template before compiling it.
        setattr(self.environment, "_parse", instrumented)  # noqa: B010

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let every module of the generator that has the original use this environment."""
        for name, module in list(sys.modules.items()):
            if name.startswith("kafka_message_generator.render") and vars(module).get("ENVIRONMENT") is self.original:
                monkeypatch.setattr(module, "ENVIRONMENT", self.environment)

    def load_all(self) -> None:
        """Parse every template, rendered or not."""
        for name in self.environment.list_templates():
            self.environment.get_template(name)

    @property
    def missing(self) -> list[str]:
        """Return lines that were never printed, tests with one outcome, and loops that were always or never empty."""
        return [
            f"{self.texts[place]}: {'never reached' if outcome else 'always held'}"
            for place, outcomes in sorted(self.wanted.items())
            for outcome in sorted(outcomes - self.seen.get(place, set()))
        ]

    def _line(self, place: str) -> str:
        self.seen.setdefault(place, set()).add(True)
        return ""

    def _test(self, place: str, value: object) -> object:
        self.seen.setdefault(place, set()).add(bool(value))
        return value

    def _loop(self, place: str, values: Iterable[object]) -> list[object]:
        items = list(values)
        self.seen.setdefault(place, set()).add(bool(items))
        return items

    def _instrument(self, tree: nodes.Template, name: str, lines: list[str]) -> nodes.Template:
        numbers: dict[tuple[int, str], int] = defaultdict(int)

        def place(node: nodes.Node, what: str, *outcomes: bool) -> nodes.Const:
            key = node.lineno, what
            numbers[key] += 1
            text = f"{name}:{node.lineno} {what}" + (f" {numbers[key]}" if numbers[key] > 1 else "")
            self.wanted[text] = set(outcomes)
            self.texts[text] = f"{name}: {lines[node.lineno - 1].strip()}"
            return nodes.Const(text)

        for output in list(tree.find_all(nodes.Output)):
            output.nodes.insert(0, _call(LINE, place(output, "text", True)))
        for branch in list(tree.find_all((nodes.If, nodes.CondExpr))):
            assert isinstance(branch, nodes.If | nodes.CondExpr)
            assert isinstance(branch.test, nodes.Expr)
            branch.test = _call(TEST, place(branch, "test", True, False), branch.test)
        for loop in list(tree.find_all(nodes.For)):
            outcomes = (True, False) if loop.else_ else (True,)
            assert isinstance(loop.iter, nodes.Expr)
            loop.iter = _call(LOOP, place(loop, "loop", *outcomes), loop.iter)
        tree.set_environment(self.environment)
        return tree


def _call(function: str, *arguments: nodes.Expr) -> nodes.Call:
    return nodes.Call(nodes.Name(function, "load"), list(arguments), [], None, None)
