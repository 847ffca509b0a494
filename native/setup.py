"""Builds the core where it can run: CPython with the global lock. Elsewhere packages use their pure code."""

import platform
import sysconfig
from pathlib import Path

from setuptools import Distribution, Extension, setup

SOURCES, HEADERS = (sorted(path.as_posix() for path in Path("src/core").glob(f"*.{kind}")) for kind in "ch")
CAN_RUN = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


class ForOneInterpreter(Distribution):
    """A wheel without the core is tagged like one with it: else it would be installed where the core can run."""

    def has_ext_modules(self) -> bool:
        return True


core = Extension("kafka_messages_native._core", SOURCES, depends=HEADERS)
setup(ext_modules=[core] if CAN_RUN else [], distclass=ForOneInterpreter)
