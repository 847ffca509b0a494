"""Corruption of encoded messages."""

from __future__ import annotations

import random

FORGED = (
    *(b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff\xff", b"\x7f\xff", b"\x80\x00"),
    *(
        b"\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\x10",
        b"\x80\x80\x80\x80\x00",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    ),
    *(
        b"\x00",
        b"\x01",
        b"\x02",
        b"\x80\x01",
        b"\x81\x00",
        b"\x00\x01\x00\x00",
        b"\xc3\xa9",
        b"\xed\xa0\x80",
        b"\xf0\x9f",
    ),
    *(b"\x01\x00\x00", b"\x01\x05\x00", b"\x02\x05\x00\x05\x00", b"\x01\x00\x01\x00", b"\x01\x63\x04abcd"),
    b"\x28" + bytes(byte for tag in range(40) for byte in (60 + tag, 0)),
)


def damaged(rnd: random.Random, data: bytes) -> bytes:
    """Return ``data`` after one to six random changes: flipped, lost, repeated or inserted bytes, forged lengths."""
    out = bytearray(data)
    for _ in range(rnd.choice((1, 1, 1, 2, 3, 6))):
        at = rnd.randrange(len(out) + 1)
        match rnd.randrange(7):
            case 0 if out:
                out[at % len(out)] = rnd.randrange(256)
            case 1 if out:
                out[at % len(out)] ^= 1 << rnd.randrange(8)
            case 2:
                out[at:at] = rnd.choice(FORGED)
            case 3:
                del out[at : at + rnd.randrange(1, 9)]
            case 4:
                del out[at:]
            case 5:
                start = rnd.randrange(len(out) + 1)
                out[at:at] = out[start : start + rnd.randrange(1, 30)]
            case _:
                forged = rnd.choice(FORGED)
                out[at : at + len(forged)] = forged
    return bytes(out)
