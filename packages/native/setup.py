"""Build of both C extensions, on CPython with the global interpreter lock and a C compiler.

Without them the distribution is still installed, and packages use their Python code. A compiler error ends the build.
"""

import platform
import shutil
import subprocess
import sysconfig
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

# GCC would merge the jumps of the loops over fields, which makes columns up to a third slower. Clang does not, and
# some of its drivers refuse these flags. Aligned functions keep their speed when others change.
LOOP_FLAGS = "-fno-gcse", "-fno-crossjumping", "-fno-partial-inlining", "-falign-functions=64"
CAN_RUN = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


class ForOneInterpreter(Distribution):
    """Give every wheel the tag of its interpreter: a wheel without extensions must not be installed by others."""

    def has_ext_modules(self) -> bool:
        return True


class BuildWithCompiler(build_ext):
    """Build the extensions, or warn if there is no compiler."""

    def build_extensions(self) -> None:
        if not self.has_compiler():
            self.warn("no C compiler found: kafka-messages-native is installed without its core")
            self.extensions = []
        if self.extensions and self.compiler.compiler_type != "msvc":
            for each in self.extensions:
                each.extra_compile_args += ["-fvisibility=hidden", *(LOOP_FLAGS if self.is_gcc() else ())]
        super().build_extensions()

    def has_compiler(self) -> bool:
        if self.compiler.compiler_type == "msvc":
            try:
                self.compiler.initialize()
            except PlatformError:  # no Visual C++
                return False
            return True
        return shutil.which(self.compiler.compiler_so[0]) is not None

    def is_gcc(self) -> bool:
        found = subprocess.run([*self.compiler.compiler_so, "--version"], capture_output=True, text=True)
        return "Free Software Foundation" in found.stdout


def extension(name: str, **options: object) -> Extension:
    """Return the extension ``_name`` from the sources of ``src/name`` and ``src/library``."""
    folders = Path("src", name), Path("src", "library")
    sources, headers = (sorted(path.as_posix() for each in folders for path in each.glob(f"*.{kind}")) for kind in "ch")
    return Extension(f"kafka_messages_native._{name}", sources, depends=headers, **options)


core = extension("core")
columns = extension("columns", py_limited_api=True, define_macros=[("Py_LIMITED_API", "0x030B0000")])
setup(
    ext_modules=[core, columns] if CAN_RUN else [],
    distclass=ForOneInterpreter,
    cmdclass={"build_ext": BuildWithCompiler},
)
