"""Suggestions for unknown names: the closest known name, or the module that exports the name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

# Minimum similarity of a suggestion, 0 to 1.
_ALIKE = 0.75


def did_you_mean(word: str, choices: Iterable[str], form: str = "{!r}", alike: float = _ALIKE) -> str:
    """Return ``; did you mean 'x'?`` with the closest choice, ignoring case, or an empty string."""
    from difflib import get_close_matches

    by_lower = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), by_lower, 1, alike)
    return f"; did you mean {form.format(by_lower[near[0]])}?" if near else ""


def module_with(name: str, package: str, parts: Iterable[str]) -> str | None:
    return next((f"{package}.{part}" for part in parts if name in _exported(f"{package}.{part}")), None)


def _exported(module: str) -> Collection[str]:
    # Parsed: importing may be slow or need missing packages.
    import ast
    from importlib import import_module
    from importlib.util import find_spec

    get_source = getattr(getattr(find_spec(module), "loader", None), "get_source", None)
    source = "" if get_source is None else get_source(module) or ""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found: list[str] = ast.literal_eval(node.value)
            return found
    if module.endswith(".enums"):  # computes its `__all__` on access
        return getattr(import_module(module), "__all__", ())
    return ()
