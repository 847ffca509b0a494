"""Heuristics for Kafka traffic: possible starts of requests and responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from struct import Struct

from ..package import DEFAULT, Package, load

LONGEST_CLIENT_ID = 1024
# Default of the broker's `socket.request.max.bytes`.
LONGEST_REQUEST = 100 << 20
_START = Struct(">ihhih")
# Number of bytes of size, API key, API version, correlation id and length of the client id.
START = _START.size


class Plausibility:
    """Recognizer of requests and responses of a package."""

    def __init__(self, package: str | Package = DEFAULT) -> None:
        self._package = load(package)
        self.foreign_protocol = self._package.foreign_protocol
        # Name of data that may also be a long frame, which a capture accepts.
        self._too_long = self.foreign_protocol(b"\x7f\xff\xff\xff")
        self._protocol = self._package.module("protocol")
        self._error: type[Exception] = self._package.root.KafkaMessageError
        self._unsupported: type[Exception] = self._package.root.UnsupportedVersionError
        keys = bytes(sorted({int(each.key) & 0xFF for each in self._protocol.apis() if each.key < 256}))
        # Matches offsets by 13 bytes: a small size of at least 10, a known API key, a small version and a short client id.
        start = rb"(?!\0\0\0[\0-\x09])[\0-\x06]...\0[" + re.escape(keys) + rb"]\0[\0-\x3f]....(?:[\0-\x04]|\xff)"
        self._pattern = re.compile(rb"(?=" + start + rb")", re.DOTALL)

    def may_be_request(self, data: bytes | bytearray, at: int = 0, *, is_known: bool = True) -> bool:
        """Check whether a size-prefixed request may start at ``at``; ``START`` bytes must be available.

        Without ``is_known``, also a request of an unknown API, or of a version far above the known ones.
        """
        size, key, version, _, client_id = _START.unpack_from(data, at)
        if not START - 4 <= size <= LONGEST_REQUEST or key < 0 or version < 0:
            return False
        which = self._package.api(key)
        if is_known and (which is None or version > max(which.valid_versions.highest, 0) + 8):
            return False
        if not -1 <= client_id <= min(LONGEST_CLIENT_ID, size - START + 4):
            return False
        # Ignores request header version 0, which has no client id: only ControlledShutdown v0 used it.
        name = bytes(data[at + START : at + START + max(client_id, 0)])
        return all(32 <= byte < 127 or byte >= 128 for byte in name)

    def names_client(self, data: bytes | bytearray, at: int = 0) -> bool:
        """Check whether a possible request at ``at`` has a client id of ASCII characters."""
        name = data[at + START : at + START + _START.unpack_from(data, at)[4]]
        return bool(name) and name.isascii()

    def other_protocol(self, data: bytes | bytearray) -> str | None:
        """Return the protocol that the first bytes look like, or None for a frame of any length or unknown bytes."""
        looks_like = self.foreign_protocol(data)
        return None if looks_like == self._too_long else looks_like

    def find_request(self, data: bytes | bytearray, start: int, end: int) -> int:
        """Return the offset of a possible request from ``start`` up to ``end``, or ``end``."""
        places = (found.start() for found in self._pattern.finditer(data, start, end + START - 2))
        return next((at for at in places if self.may_be_request(data, at)), end)

    def is_request(self, payload: bytes, is_named: bool = False) -> bool:
        """Check whether a frame decodes as a request; if ``is_named``, with any version and bytes after the message."""
        try:
            return not self._protocol.decode_request(payload).trailing or is_named
        except self._unsupported:
            return is_named
        except self._error:
            return False

    def may_be_token(self, payload: bytes) -> bool:
        """Check whether a frame of a client may be a SASL token: unknown API key or version, few zero bytes."""
        which = self._package.api(int.from_bytes(payload[:2], "big", signed=True))
        is_known = which is not None and int.from_bytes(payload[2:4], "big", signed=True) in which.valid_versions
        return not is_known and self._package.module("secrets").may_be_token(payload)

    def is_response(self, payload: bytes, expected: Mapping[int, tuple[int, int]]) -> bool:
        """Check whether a frame may be a response in ``expected`` (API key and version by correlation id).

        It must decode, unless the API or the version is unknown.
        """
        key_and_version = expected.get(int.from_bytes(payload[:4], "big", signed=True))
        if key_and_version is None:  # also for a frame that is too short
            return False
        try:
            self._protocol.decode_response(payload, *key_and_version)
        except self._error as error:
            return isinstance(error, (self._unsupported, self._protocol.UnknownApiError))
        return True


@lru_cache
def response_pattern(expected: tuple[int, ...]) -> re.Pattern[bytes]:
    """Return a pattern of the offsets of responses with these correlation ids."""
    ids = (re.escape(correlation_id.to_bytes(4, "big", signed=True)) for correlation_id in expected)
    return re.compile(rb"(?=[\x00-\x3f]...(?:" + b"|".join(ids) + rb"))", re.DOTALL)
