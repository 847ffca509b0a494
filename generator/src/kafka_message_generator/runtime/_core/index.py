"""Lazy package attributes: first access to a name imports its module."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
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
    from .suggestions import did_you_mean, module_with

    module = None if name.startswith("_") else module_with(name, package, parts)
    meant = f"; it is in {module}" if module else did_you_mean(name, modules)
    if meant and _is_importing(asking):  # an import statement drops the text of an AttributeError
        return ImportError(f"cannot import name {name!r} from {package!r}{meant}", name=package)
    # Passing the name prevents Python's own suggestion.
    return AttributeError(f"module {package!r} has no attribute {name!r}{meant}", name=name)


def _is_importing(frame: FrameType) -> bool:
    from opcode import opmap

    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]
