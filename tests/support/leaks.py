"""Texts that stand for secrets, and the search for them in all that a program gives."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator


def secret(name: str) -> str:
    """A text that is nowhere else, nor any large part of it."""
    return f"{name}-{zlib.crc32(name.encode()):08x}-swordfish-{name}"


def forms(plain: bytes) -> Iterator[bytes]:
    """What a secret looks like in files: as it is, in hexadecimal, and as base64 wherever it begins."""
    yield plain
    yield plain.hex().encode()
    yield plain.hex().upper().encode()
    for before in range(3):
        whole = base64.b64encode(bytes(before) + plain)
        whole = whole[: len(whole) - 4] if (before + len(plain)) % 3 else whole
        yield whole[4 if before else 0 :]  # its ends depend on what is around it


def leaked(content: bytes, planted: Iterable[bytes]) -> list[bytes]:
    """Which secrets are in there."""
    return [plain for plain in planted if any(form in content for form in forms(plain))]
