"""Relays before the cluster of the test kit: they break rules that concern bytes, which its rules cannot break."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

from kafka_messages import ApiVersionsResponse, Request, Response
from kafka_messages.connection import expects_response
from kafka_messages.protocol import ErrorCode, api, decode_request, decode_response, encode_request, encode_response

Address: TypeAlias = tuple[str, int]
_READ_SIZE = 1 << 16
_LONGEST_FRAME = 100 << 20  # socket.request.max.bytes
API_VERSIONS = 18


class BrokerRelay:
    """One connection, which is forwarded to a broker. Subclasses replace one of the methods."""

    def __init__(self, client: socket.socket, behind: Address) -> None:
        self.client, self.behind = client, behind
        self.broker = socket.create_connection(behind)
        self.buffer = b""

    def serve(self) -> None:
        with self.client, self.broker, suppress(OSError):
            while True:
                ready, _, _ = select.select([self.client, self.broker], [], [])
                if self.broker in ready or not (data := self.client.recv(_READ_SIZE)):
                    return  # one of them has closed its connection
                self.receive(data)

    def receive(self, data: bytes) -> None:
        """Answer the requests that ``data`` completes."""
        self.buffer += data
        for request in self.split():
            self.answer(request)

    def split(self) -> Iterator[bytes]:
        """Take whole frames off the buffer."""
        while len(self.buffer) >= 4:
            size = self.size(self.buffer[:4])
            if len(self.buffer) < 4 + size:
                return
            request, self.buffer = self.buffer[: 4 + size], self.buffer[4 + size :]
            yield request

    def size(self, prefix: bytes) -> int:
        size = int.from_bytes(prefix, signed=True)
        if not 0 <= size <= _LONGEST_FRAME:
            raise OSError(f"a frame of {size} bytes")
        return size

    def answer(self, request: bytes) -> None:
        if (response := self.ask(request)) is not None:
            self.client.sendall(response)

    def ask(self, request: bytes) -> bytes | None:
        """Return the whole frame of the broker's response; None for Produce with acks 0."""
        self.broker.sendall(request)
        if key_of(request) == 0 and not expects_response(message_of(request)):
            return None
        return self.read(int.from_bytes(head := self.read(4)), head)

    def read(self, size: int, data: bytes = b"") -> bytes:
        end = len(data) + size
        while len(data) < end:
            if not (more := self.broker.recv(end - len(data))):
                raise OSError("the broker has closed the connection")
            data += more
        return data

    def decoded(self, request: bytes) -> Any:
        """Return the broker's response as a message."""
        response = self.ask(request)
        assert response is not None
        of, version = api(key_of(request)), version_of(request)
        return decode_response(response[4:], of, version if version in of.stable_versions else 0).message

    def reply(self, request: bytes, message: Response) -> None:
        refused = isinstance(message, ApiVersionsResponse) and message.error_code == ErrorCode.UNSUPPORTED_VERSION
        version = 0 if refused else version_of(request)
        self.client.sendall(encode_response(message.downgraded(version), version, id_of(request)))


def message_of(request: bytes) -> Any:
    return decode_request(request[4:]).message


def changed(request: bytes, message: Any) -> bytes:
    """Return a request with another message."""
    client_id = client_id_of(request)
    return encode_request(
        message, version_of(request), id_of(request), None if client_id is None else client_id.decode()
    )


def key_of(request: bytes) -> int:
    return int.from_bytes(request[4:6])


def version_of(request: bytes) -> int:
    return int.from_bytes(request[6:8])


def id_of(request: bytes) -> int:
    return int.from_bytes(request[8:12], signed=True)


def client_id_of(request: bytes) -> bytes | None:
    size = int.from_bytes(request[12:14], signed=True)
    return None if size < 0 else request[14 : 14 + size]


def after_client_id(request: bytes) -> bytes:
    """Return the bytes from the tagged fields of a flexible header on."""
    return request[14 + len(client_id_of(request) or b"") :]


@contextmanager
def serving(kind: type[BrokerRelay], behind: Address) -> Iterator[Address]:
    """Serve relays to a broker. Raises the exceptions of relays, except those that close a connection."""
    failures: list[Exception] = []

    def serve(client: socket.socket) -> None:
        try:
            kind(client, behind).serve()
        except OSError:
            client.close()  # the broker has stopped
        except Exception as error:  # of a thread; the test raises it
            failures.append(error)

    def accept(server: socket.socket) -> None:
        with suppress(OSError):  # of a closed server
            while True:
                client, _ = server.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        yield server.getsockname()
    if failures:
        raise ExceptionGroup("failed relays", failures)


class Truncated(BrokerRelay):
    def receive(self, data: bytes) -> None:
        if len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4]):
            raise OSError("the first read has no whole frame")
        super().receive(data)


class DropsTheRest(BrokerRelay):
    """Drops what follows an ApiVersions request in the same packet."""

    def answer(self, request: bytes) -> None:
        super().answer(request)
        if key_of(request) == API_VERSIONS:
            self.buffer = b""


class UnsignedLengths(BrokerRelay):
    def size(self, prefix: bytes) -> int:
        return int.from_bytes(prefix) if prefix[0] > 127 else super().size(prefix)


class WaitsForAnyLength(BrokerRelay):
    def size(self, prefix: bytes) -> int:
        return int.from_bytes(prefix) if prefix == b"\x7f\xff\xff\xff" else super().size(prefix)


class Unordered(BrokerRelay):
    """Answers other requests while a Fetch waits for records."""

    def answer(self, request: bytes) -> None:
        if key_of(request) != 1:
            return super().answer(request)
        return threading.Thread(target=self.later, args=(request,), daemon=True).start()

    def later(self, request: bytes) -> None:
        with suppress(OSError):
            other = BrokerRelay(self.client, self.behind)
            with other.broker:
                other.answer(request)


class LosesResponses(BrokerRelay):
    """Loses the response to a request that arrives while another one waits, as SeaweedFS' gateway did."""

    def answer(self, request: bytes) -> None:
        if (response := self.ask(request)) is None:
            return
        while select.select([self.client], [], [], 0)[0] and (data := self.client.recv(_READ_SIZE)):
            self.buffer += data
        list(self.split())
        self.client.sendall(response)


class ClosesAfterFallback(BrokerRelay):
    def answer(self, request: bytes) -> None:
        super().answer(request)
        if key_of(request) == API_VERSIONS and version_of(request) > 90:
            raise OSError("unsupported version")


class AnswersUnknownApis(BrokerRelay):
    def answer(self, request: bytes) -> None:
        if key_of(request) < 1000:
            return super().answer(request)
        return self.client.sendall((6).to_bytes(4) + request[8:12] + b"\0\x23")


class AnswersUnknownVersions(BrokerRelay):
    def answer(self, request: bytes) -> None:
        if key_of(request) != 3 or version_of(request) < 90:
            return super().answer(request)
        return self.client.sendall((6).to_bytes(4) + request[8:12] + b"\0\x23")


class UnsignedIds(BrokerRelay):
    def answer(self, request: bytes) -> None:
        response = self.ask(request)
        if response is not None:
            self.client.sendall(response[:4] + bytes([response[4] & 0x7F]) + response[5:])


class NullArraysAreEmpty(BrokerRelay):
    def answer(self, request: bytes) -> None:
        is_null = key_of(request) == 15 and request.endswith(b"\xff" * 4)
        super().answer(request[:-4] + bytes(4) if is_null else request)


class AnswersAcks0(BrokerRelay):
    def answer(self, request: bytes) -> None:
        if key_of(request) != 0:
            return super().answer(request)
        message = message_of(request)
        message.acks = message.acks or 1
        return super().answer(changed(request, message))


class KeepsConnectionsWithAcks0(BrokerRelay):
    def answer(self, request: bytes) -> None:
        if key_of(request) != 0 or expects_response(message_of(request)):
            return super().answer(request)
        with BrokerRelay(self.client, self.behind).broker as other, suppress(OSError):
            other.sendall(request)
            other.settimeout(0.1)
            other.recv(1)  # until the broker has acted
        return None


class EmptyTopicsAreNone(BrokerRelay):
    """Treats the empty array of Metadata 0 like that of version 1."""

    def answer(self, request: bytes) -> None:
        if request[4:8] != b"\0\3\0\0" or not request.endswith(bytes(4)):
            return super().answer(request)
        message = self.decoded(request)
        message.topics = []
        return self.reply(request, message)


class JoinsWithoutMemberId(BrokerRelay):
    """Joins a member without id at once, at every version."""

    def answer(self, request: bytes) -> None:
        if key_of(request) != 11:
            return super().answer(request)
        message = self.decoded(request)
        if message.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            again = message_of(request)
            again.member_id = message.member_id
            message = self.decoded(changed(request, again))
        return self.reply(request, message)


class RequiresMemberIds(BrokerRelay):
    """Requires a member id of JoinGroup at every version."""

    def answer(self, request: bytes) -> None:
        if key_of(request) != 11:
            return super().answer(request)
        message = self.decoded(request)
        if not message_of(request).member_id and version_of(request) < 4:
            message.error_code, message.generation_id = ErrorCode.MEMBER_ID_REQUIRED, -1
        return self.reply(request, message)


class OldRangesInVersion0(BrokerRelay):
    """Leaves flexible versions out of ApiVersions 0."""

    def answer(self, request: bytes) -> None:
        if request[4:8] != b"\0\x12\0\0":
            return super().answer(request)
        message = self.decoded(request)
        for each in message.api_keys:
            each.max_version = min(each.max_version, api(each.api_key).request_class.LOWEST_FLEXIBLE_VERSION - 1)
        return self.reply(request, message)


def refusing(is_refused: Callable[[bytes], object]) -> type[BrokerRelay]:
    """Return a relay that closes the connection at some requests."""

    class Refusing(BrokerRelay):
        def answer(self, request: bytes) -> None:
            if is_refused(request):
                raise OSError("refused")
            super().answer(request)

    return Refusing


def in_api_versions(is_refused: Callable[[bytes], object]) -> type[BrokerRelay]:
    """Return a relay that refuses some flexible requests of ApiVersions, by the bytes after the client id."""
    return refusing(
        lambda request: key_of(request) == API_VERSIONS
        and 3 <= version_of(request) < 90
        and is_refused(after_client_id(request))
    )


def invalid_text(data: bytes | None) -> bool:
    try:
        return bool(data and not data.decode())
    except UnicodeDecodeError:
        return True


def refusal(since: int, named: int, is_announced: bool = True) -> type[BrokerRelay]:
    """Return a relay that refuses ApiVersions from a version on, with an array count of one byte (librdkafka's mock).

    ``named`` is the highest version of ApiVersions in the refusal, and with ``is_announced`` in other responses too.
    """

    class OneByteCount(BrokerRelay):
        def answer(self, request: bytes) -> None:
            if key_of(request) != API_VERSIONS:
                return super().answer(request)
            if version_of(request) >= since:
                body = request[8:12] + b"\0\x23\1\0\x12\0\0" + named.to_bytes(2) + bytes(4)
                return self.client.sendall(len(body).to_bytes(4) + body)
            message = self.decoded(request)
            for each in message.api_keys:
                if each.api_key == API_VERSIONS and is_announced:
                    each.max_version = named
            return self.reply(request, message)

    return OneByteCount


class AnswersUnknownVersionsOfApiVersions(BrokerRelay):
    """Answers them like version 4, without an error (Tansu)."""

    def answer(self, request: bytes) -> None:
        is_unknown = key_of(request) == API_VERSIONS and version_of(request) > 90
        super().answer(request[:6] + b"\0\4" + request[8:] if is_unknown else request)


def stub(request_class: type[Request[Any]], act: Callable[[Any], Response]) -> type[BrokerRelay]:
    """Return a relay that announces an API which the cluster lacks, and answers it with a function."""
    of = api(request_class)

    class Announcing(BrokerRelay):
        def answer(self, request: bytes) -> None:
            if key_of(request) == of.key:
                return self.reply(request, act(message_of(request)))
            if key_of(request) != API_VERSIONS:
                return super().answer(request)
            message, versions = self.decoded(request), of.stable_versions
            if message.error_code == ErrorCode.NONE:
                entry = ApiVersionsResponse.ApiVersion(
                    api_key=of.key, min_version=versions.lowest, max_version=versions.highest
                )
                message.api_keys = [*message.api_keys, entry]
            return self.reply(request, message)

    return Announcing
