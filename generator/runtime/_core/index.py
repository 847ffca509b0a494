"""Lazy access to classes: a name of the package imports its module when it is first asked for."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def load(package: str, modules: dict[str, str], name: str, namespace: dict[str, object]) -> object:
    """The attribute ``name`` of ``package``, from the module that has it, kept in ``namespace`` from then on.

    Raises AttributeError with the nearest name there is, or an ImportError with it where the name is being imported.
    """
    module = modules.get(name)
    if module is None:
        raise _unknown(package, modules, name, sys._getframe(2))
    from importlib import import_module

    value: object = getattr(import_module(f"{package}.{module}"), name)
    namespace[name] = value
    return value


def _unknown(package: str, modules: dict[str, str], name: str, asking: FrameType) -> Exception:
    if name.startswith("__"):  # asked for by Python and its tools, which expect that it may be missing
        return AttributeError(f"module {package!r} has no attribute {name!r}")
    from .spelling import did_you_mean

    meant = did_you_mean(name, modules)
    if meant and _is_importing(asking):  # of an AttributeError the statement would drop the text
        return ImportError(f"cannot import name {name!r} from {package!r}{meant}", name=package)
    # With the name given Python does not add a guess of its own.
    return AttributeError(f"module {package!r} has no attribute {name!r}{meant}", name=name)


def _is_importing(frame: FrameType) -> bool:
    """Whether a frame stands at the name of ``from package import name``."""
    from opcode import opmap

    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]
