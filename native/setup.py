"""Builds both extensions where they can run: CPython with the global lock. Elsewhere packages use their pure code."""

import platform
import sysconfig
from pathlib import Path

from setuptools import Distribution, Extension, setup

CAN_RUN = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


class ForOneInterpreter(Distribution):
    """A wheel without the core is tagged like one with it: else it would be installed where the core can run."""

    def has_ext_modules(self) -> bool:
        return True


def extension(name: str, **options: object) -> Extension:
    """The sources of ``src/name`` as the module ``_name``."""
    sources, headers = (sorted(path.as_posix() for path in Path("src", name).glob(f"*.{kind}")) for kind in "ch")
    return Extension(f"kafka_messages_native._{name}", sources, depends=headers, **options)


core = extension("core")
columns = extension("columns", py_limited_api=True, define_macros=[("Py_LIMITED_API", "0x030B0000")])
setup(ext_modules=[core, columns] if CAN_RUN else [], distclass=ForOneInterpreter)
