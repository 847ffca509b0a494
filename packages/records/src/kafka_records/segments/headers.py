"""Header fields of several batches as columns."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .. import _native
from ..format import CODECS, COMPRESSION, CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, SMALLEST, TRANSACTIONAL
from ..header import raw_header
from .frames import Bools, Ints, LogData
from .run import BatchRun


def _header_fields(log: LogData, start: Ints) -> dict[str, Ints]:
    if _native.core is not None:
        columns = np.empty((len(_native.core.HEADER_FIELDS), len(start)), np.int64)
        _native.core.read_headers(log.bytes, np.ascontiguousarray(start, np.int64), columns)
        return dict(zip(_native.core.HEADER_FIELDS, columns, strict=True))
    headers = [raw_header(log.bytes.data, at) for at in start.tolist()]
    fields = dict(zip(_native.FIELDS, np.array(headers, np.int64).reshape(-1, len(_native.FIELDS)).T, strict=True))
    is_old = fields["MAGIC"] != 2
    fields["BASE_TIMESTAMP"][is_old] = -1
    fields["COUNT"][is_old] = 1
    return fields


class HeaderColumns:
    """Header fields, one array element per batch. Fields that formats 0 and 1 lack are -1 or False if not noted below."""

    def __init__(self, log: LogData, start: Ints) -> None:
        self.start = start
        fields = _header_fields(log, start)
        self.magic = fields["MAGIC"]
        self.new = self.magic == 2
        self.attributes = fields["ATTRIBUTES"]
        self.codec = self.attributes & COMPRESSION
        # Offset of the first record; formats 0 and 1: offset of the message, which is that of its last inner message.
        self.base_offset = fields["BASE_OFFSET"]
        self.leader_epoch = fields["LEADER_EPOCH"]
        self.last_offset_delta = fields["LAST_OFFSET_DELTA"]  # 0 in formats 0 and 1
        # Milliseconds: timestamp of the first record, or the delete horizon. -1 in formats 0 and 1.
        self.base_timestamp = fields["BASE_TIMESTAMP"]
        # Milliseconds. Format 1: timestamp of the outermost message; format 0: -1.
        self.max_timestamp = fields["MAX_TIMESTAMP"]
        self.producer_id = fields["PRODUCER_ID"]
        self.producer_epoch = fields["PRODUCER_EPOCH"]
        self.base_sequence = fields["BASE_SEQUENCE"]
        # 1 in formats 0 and 1, even for compressed messages.
        self.count = fields["COUNT"]

    @classmethod
    def of(cls, run: BatchRun) -> HeaderColumns:
        """Read the headers of a run; add the batches to ``run.bad`` whose header another thread has made invalid."""
        headers = cls(run.log, run.start)
        smallest = np.select([headers.new, headers.magic == 1], [SMALLEST[2], SMALLEST[1]], SMALLEST[0])
        unknown = (headers.magic < 0) | (headers.magic > 2) | (headers.codec >= len(CODECS))
        for number in np.flatnonzero(unknown | (run.size < smallest) | (headers.count < 0)).tolist():
            run.bad.setdefault(number, "the header changed during the read")
        return headers

    @cached_property
    def timestamp_type(self) -> Ints:
        """0 for create time, 1 for log append time, -1 for none (format 0)."""
        return np.where(self.magic == 0, -1, (self.attributes & LOG_APPEND_TIME) // LOG_APPEND_TIME)

    def has(self, bit: int) -> Bools:
        result: Bools = self.new & (self.attributes & bit != 0)
        return result

    @cached_property
    def transactional(self) -> Bools:
        return self.has(TRANSACTIONAL)

    @cached_property
    def control(self) -> Bools:
        return self.has(CONTROL)

    @cached_property
    def horizon(self) -> Bools:
        return self.has(DELETE_HORIZON)
