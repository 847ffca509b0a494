"""Writing of whole files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress


def replace_file(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file beside ``path`` and rename it, so that no reader sees a part of it. Raises OSError that names ``path``.

    Links are followed and permissions kept. Pipes, devices and open files such as ``/dev/stdout`` are written directly.
    """
    name, target = os.fspath(path), os.path.realpath(path)
    is_special = os.path.exists(name) != os.path.isfile(name) or os.path.islink(target)
    is_direct = is_special or name.startswith(("/dev/std", "/dev/fd/", "/proc/"))
    new = name if is_direct else os.path.join(os.path.dirname(target), f".{os.urandom(8).hex()}.tmp")
    try:
        with open(new, "wb" if is_direct else "xb") as file:
            file.writelines(parts)
        if not is_direct and os.path.exists(target):
            with open(target, "ab"):  # raises PermissionError for a read-only file
                os.chmod(new, os.stat(target).st_mode & 0o7777)
        if not is_direct:
            os.replace(new, target)
    except BaseException as error:
        if not is_direct:
            with suppress(OSError):
                os.unlink(new)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, name) from None
        raise
