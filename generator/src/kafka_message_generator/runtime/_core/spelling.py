"""Suggestions for unknown names: the nearest spelling, or the module that has the name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_ALIKE = 0.75
"""Of 1; so alike must words be for one to be taken for the other."""


def did_you_mean(word: str, choices: Iterable[str], form: str = "{!r}", alike: float = _ALIKE) -> str:
    """Return the end of an error text with the choice that is nearest to a word in any case; empty if none is near."""
    from difflib import get_close_matches

    by_lower = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), by_lower, 1, alike)
    return f"; did you mean {form.format(by_lower[near[0]])}?" if near else ""


def module_with(name: str, package: str, parts: Iterable[str]) -> str | None:
    """Return the first of a package's modules ``parts`` that exports a name; None if there is none."""
    return next((f"{package}.{part}" for part in parts if name in _exported(f"{package}.{part}")), None)


def _exported(module: str) -> Collection[str]:
    """Return the ``__all__`` of a module, from its source: importing may be slow, or need what is not installed."""
    import ast
    from importlib import import_module
    from importlib.util import find_spec

    get_source = getattr(getattr(find_spec(module), "loader", None), "get_source", None)
    source = "" if get_source is None else get_source(module) or ""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found: list[str] = ast.literal_eval(node.value)
            return found
    if module.endswith(".enums"):  # it makes its `__all__` when it is asked for
        return getattr(import_module(module), "__all__", ())
    return ()
