"""Writing of whole files."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress


def replace_file(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file beside ``path`` and rename it, so that no reader sees a part of it. Raises OSError that names ``path``.

    Links are followed and permissions kept. Pipes, devices, open files and mounted files are written directly.
    """
    name, target = os.fspath(path), os.path.realpath(path)
    is_special = os.path.exists(name) != os.path.isfile(name) or os.path.islink(target)
    is_direct = is_special or name.startswith(("/dev/std", "/dev/fd/", "/proc/"))
    new = os.path.join(os.path.dirname(target), f".{os.urandom(8).hex()}.tmp")
    try:
        if is_direct:
            with open(name, "wb") as file:
                file.writelines(parts)
            return
        with open(new, "xb") as file:
            file.writelines(parts)
        if os.path.exists(target):
            with open(target, "ab"):  # raises PermissionError for a read-only file
                os.chmod(new, os.stat(target).st_mode & 0o7777)
        try:
            os.replace(new, target)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            shutil.copyfile(new, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None
    finally:
        with suppress(OSError):
            os.unlink(new)
