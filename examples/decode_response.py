"""Print the exchanges between a consumer and a real broker, and one response in full.

python examples/decode_response.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_messages import MetadataResponse
from kafka_messages.protocol import (
    DecodedRequest,
    DecodedResponse,
    ErrorCode,
    FrameReader,
    api,
    decode_request,
    decode_response,
)

TRAFFIC = Path(__file__).resolve().parent / "cluster" / "traffic"
CONNECTION = "55140"
"""Connection of a consumer in the group `billing`."""


def frames(path: Path) -> list[bytes]:
    """Return the frames of one direction."""
    reader = FrameReader()
    reader.feed(path.read_bytes())
    return list(reader)


def exchanges() -> Iterator[tuple[bytes, DecodedRequest, bytes, DecodedResponse[Any]]]:
    """Yield each request with its response, as bytes and decoded."""
    requests = frames(TRAFFIC / f"{CONNECTION}.request.bin")
    responses = frames(TRAFFIC / f"{CONNECTION}.response.bin")
    for sent, answered in zip(requests, responses, strict=True):
        request = decode_request(sent)
        header = request.header
        yield sent, request, answered, decode_response(answered, header.request_api_key, header.request_api_version)


def show(found: list[tuple[bytes, DecodedRequest, bytes, DecodedResponse[Any]]]) -> None:
    """Print a line per exchange, and check that messages encode to the same bytes."""
    print("  API              version  request  response")
    for sent, request, answered, response in found:
        key, version = request.header.request_api_key, request.header.request_api_version
        print(f"  {api(key).name:<15}  {version:>7}  {len(sent):>5} B  {len(answered):>6} B")
        assert request.encode(framed=False) == sent
        assert response.encode(framed=False) == answered
    print("\nAll messages encode to the same bytes again.")


def show_metadata(response: MetadataResponse) -> None:
    for broker in response.brokers:
        print(f"  broker {broker.node_id} is {broker.host}:{broker.port}")
    for topic in response.topics:
        print(
            f"  topic {topic.name!r} has {len(topic.partitions)} partitions, error code {ErrorCode(topic.error_code).name}\n"
        )
        print("    partition  leader  replicas  in sync")
        for each in topic.partitions:
            replicas, in_sync = (", ".join(map(str, nodes)) for nodes in (each.replica_nodes, each.isr_nodes))
            print(f"    {each.partition_index:>9}  {each.leader_id:>6}  {replicas:>8}  {in_sync:>7}")


def main() -> None:
    found = list(exchanges())
    print(f"Requests of the consumer {found[0][1].header.client_id!r}, and the broker's responses:\n")
    show(found)
    for _, request, answered, response in found:
        message = response.message
        if isinstance(message, MetadataResponse):
            print(f"\nMetadataResponse version {request.header.request_api_version}, {len(answered)} bytes:\n")
            show_metadata(message)
            print(f"\nIn Python, response.brokers[0] is\n\n    {message.brokers[0]}")


if __name__ == "__main__":
    main()
