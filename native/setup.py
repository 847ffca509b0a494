"""Builds the core where it can run: CPython with the global lock. Elsewhere the distribution is empty, and pure code runs."""

import platform
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

SOURCES = sorted(path.as_posix() for path in Path("src/core").glob("*.c"))
CAN_RUN = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")

core = Extension("kafka_messages_native._core", SOURCES, depends=["src/core/core.h"])
setup(ext_modules=[core] if CAN_RUN else [])
