"""Compare traversals, unsupported fields and copies of messages with reading them, native and pure, in one run.

python benchmarks/traversals.py [--rounds N]

Prints CPU µs of each call and, in brackets, the ratio to ``read``: the minimum of alternating rounds.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from time import process_time_ns

from kafka_messages import FetchResponse, HeartbeatResponse, Message, MetadataResponse, ProduceResponse, implementation
from kafka_messages.connection import endpoints, entities, error_codes, errors
from markdown import table

# Minimum nanoseconds per measurement.
SHORTEST = 2_000_000
Call = Callable[[], object]


def produced() -> ProduceResponse:
    kind = ProduceResponse.PartitionProduceResponse
    topic = ProduceResponse.TopicProduceResponse(
        name="a", partition_responses=[kind(index=0), kind(index=1, error_code=3)]
    )
    return ProduceResponse(responses=[topic])


def fetched() -> FetchResponse:
    partition = FetchResponse.PartitionData(records=b"x" * 100)
    return FetchResponse(responses=[FetchResponse.FetchableTopicResponse(partitions=[partition])])


def described() -> MetadataResponse:
    """Return three brokers and twenty topics of ten partitions with three replicas: 1,423 names."""
    broker, topic = MetadataResponse.MetadataResponseBroker, MetadataResponse.MetadataResponseTopic
    partition = MetadataResponse.MetadataResponsePartition
    return MetadataResponse(
        brokers=[broker(node_id=number, host="h", port=9092) for number in range(3)],
        topics=[
            topic(
                name=f"topic-{number}",
                partitions=[
                    partition(partition_index=index, replica_nodes=[0, 1, 2], isr_nodes=[0, 1, 2])
                    for index in range(10)
                ],
            )
            for number in range(20)
        ],
    )


# Message, version, and an older version that is not flexible.
MESSAGES: dict[str, tuple[Message, int, int]] = {
    "Heartbeat": (HeartbeatResponse(), 4, 0),
    "Produce, 2 partitions": (produced(), 10, 7),
    "Fetch, 1 partition": (fetched(), 16, 11),
    "Metadata, 200 partitions": (described(), 12, 8),
}


def calls(message: Message, version: int, older: int) -> dict[str, Call]:
    data = message.write(version)
    return {
        "`read`": lambda: type(message).read(data, version),
        "`errors`": lambda: list(errors(message)),
        "`error_codes`": lambda: list(error_codes(message)),
        "`endpoints`": lambda: list(endpoints(message)),
        "`entities`": lambda: list(entities(message)),
        "`entities`, topics": lambda: list(entities(message, "topicName")),
        "`unsupported_fields`": lambda: message.unsupported_fields(version),
        "`unsupported_fields`, older": lambda: message.unsupported_fields(older),
        "`downgraded`": lambda: message.downgraded(version),
    }


def cost(call: Call) -> float:
    times, elapsed = 1, 0
    while elapsed < SHORTEST:
        times *= 2
        start = process_time_ns()
        for _ in range(times):
            call()
        elapsed = process_time_ns() - start
    return elapsed / times / 1000


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds: int = parser.parse_args().rounds
    measured = {name: calls(*each) for name, each in MESSAGES.items()}
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for name, each in measured.items():
            for what, call in each.items():
                found.setdefault((name, what), []).append(cost(call))
    heads = list(next(iter(measured.values())))
    rows = []
    for name in measured:
        times = [min(found[name, what]) for what in heads]
        rows.append(
            [f"{name}, {implementation()}", f"{times[0]:.2f}", *(f"{t:.2f} ({t / times[0]:.1f})" for t in times[1:])]
        )
    print("\n".join(table(["CPU µs", *heads], rows)))


if __name__ == "__main__":
    main()
