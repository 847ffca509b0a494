"""Where in a stream a request or a response may begin, and whether a connection looks like Kafka at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from struct import Struct

from ..package import DEFAULT, Package, load

LONGEST_CLIENT_ID = 1024
LONGEST_REQUEST = 100 << 20
"""Bytes of a request that a broker takes unless it is told otherwise (``socket.request.max.bytes``)."""
_START = Struct(">ihhih")
START = _START.size
"""Bytes of a request that tell whether it may be one: size, API key, API version, correlation id, length of client id."""


class Plausibility:
    """Tells which bytes may be requests and responses of the APIs that a package knows."""

    def __init__(self, package: str | Package = DEFAULT) -> None:
        self._package = load(package)
        self._protocol = self._package.module("protocol")
        self._error: type[Exception] = self._package.root.KafkaMessageError
        keys = bytes(sorted({int(each.key) & 0xFF for each in self._protocol.apis() if each.key < 256}))
        self._pattern = re.compile(rb"(?=[\x00-\x06]...\x00[" + re.escape(keys) + rb"]\x00[\x00-\x3f])", re.DOTALL)
        """Any offset at which size, key and version are small enough."""

    def may_be_request(self, data: bytes | bytearray, at: int = 0) -> bool:
        """Whether a request may begin at an offset, with its size; ``START`` bytes must be there."""
        size, key, version, _, client_id = _START.unpack_from(data, at)
        which = self._package.api(key)
        if which is None or not START - 4 <= size <= LONGEST_REQUEST:
            return False
        highest = max(which.valid_versions.highest, 0)
        if not 0 <= version <= highest + 8 or not -1 <= client_id <= min(LONGEST_CLIENT_ID, size - START + 4):
            return False
        # Header version 0, of ControlledShutdown, is never used by what runs today.
        name = bytes(data[at + START : at + START + max(client_id, 0)])
        return all(32 <= byte < 127 or byte >= 128 for byte in name)

    def find_request(self, data: bytes | bytearray, start: int = 0) -> int:
        """The offset of what may be a request; where to go on looking, with more bytes, if there is none."""
        for found in self._pattern.finditer(data, start):
            if len(data) - found.start() < START:
                break
            if self.may_be_request(data, found.start()):
                return found.start()
        return max(len(data) - START + 1, start)

    def is_request(self, payload: bytes) -> bool:
        """Whether a frame is a request from its first byte to its last."""
        try:
            return not self._protocol.decode_request(payload).trailing
        except self._error:
            return False

    def may_be_token(self, payload: bytes) -> bool:
        """Whether a frame of a client may be a token of SASL: it begins as no request that this package knows."""
        which = self._package.api(int.from_bytes(payload[:2], "big", signed=True))
        is_known = which is not None and int.from_bytes(payload[2:4], "big", signed=True) in which.valid_versions
        return not is_known and self._package.module("secrets").may_be_token(payload)

    def is_response(self, payload: bytes, expected: Mapping[int, tuple[int, int]]) -> bool:
        """Whether a frame is a response from its first byte to its last; ``expected`` are API key and version by its id."""
        asked = expected.get(int.from_bytes(payload[:4], "big", signed=True))
        if asked is None:  # a frame that is smaller than the id that was found
            return False
        try:
            self._protocol.decode_response(payload, *asked)
        except self._error:
            return False
        return True


def find_response(data: bytes | bytearray, expected: Iterable[int], start: int = 0) -> int:
    """The offset of what may be a response with one of these correlation ids; where to go on looking, if there is none."""
    ids = [correlation_id.to_bytes(4, "big", signed=True) for correlation_id in expected]
    if ids:
        pattern = re.compile(rb"(?=[\x00-\x3f]...(?:" + b"|".join(map(re.escape, ids)) + rb"))", re.DOTALL)
        found = pattern.search(data, start)
        if found is not None:
            return found.start()
    return max(len(data) - 7, start)


def is_tls(data: bytes | bytearray) -> bool:
    """Whether a stream begins as one that is encrypted by TLS: a handshake record."""
    return data[:2] == b"\x16\x03"
