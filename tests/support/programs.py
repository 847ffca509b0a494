"""The programs in ``examples``, as modules."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from .pages import ROOT


def program(name: str) -> ModuleType:
    """Import ``examples/NAME.py`` once."""
    known = f"examples_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, ROOT / "examples" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[known] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[known]
