"""Marker texts for secrets, and the search for them in output."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator


def secret(name: str) -> str:
    """Return a unique text without a large part in common with others."""
    return f"{name}-{zlib.crc32(name.encode()):08x}-swordfish-{name}"


def forms(plain: bytes) -> Iterator[bytes]:
    """Yield the encodings of a secret in files: plain, hexadecimal, and base64 at each alignment."""
    yield plain
    yield plain.hex().encode()
    yield plain.hex().upper().encode()
    for before in range(3):
        whole = base64.b64encode(bytes(before) + plain)
        whole = whole[: len(whole) - 4] if (before + len(plain)) % 3 else whole
        yield whole[4 if before else 0 :]  # its ends depend on the surrounding bytes


def leaked(content: bytes, planted: Iterable[bytes]) -> list[bytes]:
    """Return the secrets found in the data."""
    return [plain for plain in planted if any(form in content for form in forms(plain))]
