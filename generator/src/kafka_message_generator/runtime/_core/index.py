"""Lazy package attributes: first access to a name imports its module."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from types import FrameType


def load(
    package: str, modules: dict[str, str], name: str, namespace: dict[str, object], parts: Sequence[str] = ()
) -> object:
    """Import the attribute ``name`` of ``package``, store it in ``namespace``, and return it.

    ``modules`` maps names to defining modules; ``parts`` are submodules. Raises AttributeError or ImportError.
    """
    if name == "__all__" and parts and sys._getframe(2).f_globals.get("__name__") != "pydoc":
        return list(modules)
    module = modules.get(name)
    if module is None and name not in parts:
        raise _unknown(package, modules, name, parts, sys._getframe(2))
    from importlib import import_module

    if module is None:
        return import_module(f"{package}.{name}")
    value: object = getattr(import_module(f"{package}.{module}"), name)
    namespace[name] = value
    return value


def _unknown(package: str, modules: dict[str, str], name: str, parts: Sequence[str], asking: FrameType) -> Exception:
    if name.startswith("__"):  # probed by Python and its tools
        return AttributeError(f"module {package!r} has no attribute {name!r}")
    from ..errors import did_you_mean

    module = None if name.startswith("_") else _module_with(name, package, parts)
    meant = f"; it is in {module}" if module else did_you_mean(name, modules)
    if meant and _is_importing(asking):  # an import statement drops the text of an AttributeError
        return ImportError(f"cannot import name {name!r} from {package!r}{meant}", name=package)
    # Passing the name prevents Python's own suggestion.
    return AttributeError(f"module {package!r} has no attribute {name!r}{meant}", name=name)


def _is_importing(frame: FrameType) -> bool:
    from opcode import opmap

    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


def _module_with(name: str, package: str, parts: Iterable[str]) -> str | None:
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
