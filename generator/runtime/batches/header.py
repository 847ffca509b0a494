"""What changes in a batch without a new checksum: its base offset and its leader epoch."""

from __future__ import annotations

from struct import Struct

from ..errors import DecodeError, EncodeError
from .format import LEADER_EPOCH_AT, MAGIC_AT, OVERHEAD, SMALLEST

_int64 = Struct(">q").pack
_int32 = Struct(">i").pack


def with_base_offset(batch: bytes | bytearray | memoryview, offset: int, *, leader_epoch: int | None = None) -> bytes:
    """A copy of one batch of format 2 that begins at another offset, as a broker does when it appends it.

    ``leader_epoch`` is the partition leader epoch that is written too; None leaves it. The checksum covers neither of
    them (KIP-98), so nothing is summed, decompressed or checked beyond the length. Raises DecodeError if the bytes are not
    one whole batch of format 2, and EncodeError for a number that does not fit.
    """
    if len(batch) < SMALLEST[2] or batch[MAGIC_AT] != 2:
        raise DecodeError(f"{len(batch)} bytes that are no batch of format 2", "RecordBatch", offset=0)
    size = int.from_bytes(batch[8:OVERHEAD], "big") + OVERHEAD
    if size != len(batch):
        raise DecodeError(f"{len(batch)} bytes, but the batch has a size of {size}", "RecordBatch", 2, offset=0)
    if not 0 <= offset < 1 << 63:
        raise EncodeError(f"{offset} is no offset", "RecordBatch", path="offset")
    if leader_epoch is None:
        return b"".join((_int64(offset), batch[8:]))
    if not -1 <= leader_epoch < 1 << 31:
        raise EncodeError(f"{leader_epoch} is no leader epoch", "RecordBatch", path="leader_epoch")
    return b"".join((_int64(offset), batch[8:LEADER_EPOCH_AT], _int32(leader_epoch), batch[MAGIC_AT:]))
