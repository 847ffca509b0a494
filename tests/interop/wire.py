"""Blocking requests to a broker with ``kafka_messages``."""

from __future__ import annotations

import socket
from itertools import count
from typing import TypeVar

from kafka_messages import Message, ProduceRequest, ProduceResponse, Request, Response
from kafka_messages.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_messages.protocol import ErrorCode, FrameReader, decode_response, encode_request

from .kafka import InteropError

SECONDS = 60
PRODUCE_VERSION = 9
"""Version that does not add partitions to transactions implicitly (KIP-890)."""

R = TypeVar("R", bound=Response)


class Connection:
    """A connection to a broker."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("localhost", port), SECONDS)
        self._frames = FrameReader()
        self._ids = count()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: Request, version: int, answer: type[R]) -> R:
        """Return the broker's response. Raise InteropError if the connection closes, OSError on timeout."""
        _, frame = self.exchange(request, version)
        return decode_response(frame, answer, version).message

    def exchange(self, request: Request, version: int) -> tuple[bytes, bytes]:
        """Return request and response as bytes, without length prefixes. Raises the errors of ``ask``."""
        number = next(self._ids)
        sent = encode_request(request, version, number, "kafka_messages")
        self._socket.sendall(sent)
        while True:
            data = self._socket.recv(1 << 16)
            if not data:
                raise InteropError(f"the broker closed the connection at {request.NAME} v{version}")
            self._frames.feed(data)
            for frame in self._frames:
                assert int.from_bytes(frame[:4]) == number  # response headers start with the correlation id
                return sent[4:], bytes(frame)

    def produce(self, topic: str, partition: int, records: bytes, transactional_id: str | None = None) -> int:
        """Write record batches; return the offset of the first record. Raise InteropError."""
        part = PartitionProduceData(index=partition, records=records)
        data = TopicProduceData(name=topic, partition_data=[part])
        request = ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=10_000, topic_data=[data])
        answer = self.ask(request, PRODUCE_VERSION, ProduceResponse)
        written = next(iter(answer.responses)).partition_responses[0]
        accept(request, written.error_code)
        return written.base_offset


def accept(request: Message, code: int) -> None:
    """Raise InteropError for an error code in a response."""
    if code:
        raise InteropError(f"error in the response to {request.NAME}: {ErrorCode(code).name}")
