"""Lazy access to classes: a name of the package imports its module when it is first asked for."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType


def load(
    package: str, modules: dict[str, str], name: str, namespace: dict[str, object], parts: Sequence[str] = ()
) -> object:
    """The attribute ``name`` of ``package``, from the module that has it, kept in ``namespace`` from then on.

    ``parts`` are modules of the package that are attributes as well. A package with parts has no ``__all__`` of its own:
    it is the names in ``modules``, except for ``help``, which would print the page of every class.

    Raises AttributeError with the nearest name there is, or an ImportError with it where the name is being imported.
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
    if name.startswith("__"):  # asked for by Python and its tools, which expect that it may be missing
        return AttributeError(f"module {package!r} has no attribute {name!r}")
    from .spelling import did_you_mean, module_with

    module = None if name.startswith("_") else module_with(name, package, parts)
    meant = f"; it is in {module}" if module else did_you_mean(name, modules)
    if meant and _is_importing(asking):  # of an AttributeError the statement would drop the text
        return ImportError(f"cannot import name {name!r} from {package!r}{meant}", name=package)
    # With the name given Python does not add a guess of its own.
    return AttributeError(f"module {package!r} has no attribute {name!r}{meant}", name=name)


def _is_importing(frame: FrameType) -> bool:
    """Whether a frame stands at the name of ``from package import name``."""
    from opcode import opmap

    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]
