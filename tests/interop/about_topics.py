"""Conversations about versions, topics and records."""

from __future__ import annotations

from typing import Any

from kafka_messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    MetadataRequest,
    OffsetForLeaderEpochRequest,
)
from kafka_records import Record, write_batch

from tests.support.invalid_batches import INVALID_BATCHES, TRAILING

from .asked import (
    START,
    UNKNOWN,
    ZERO,
    assigned,
    batch,
    create,
    delete,
    fetch,
    init,
    leader_epochs,
    list_offsets,
    metadata,
    partitions,
    produce,
)
from .sides import Side


async def api_versions(side: Side) -> None:
    await side.ask("valid", ApiVersionsRequest(client_software_name="kit", client_software_version="1"))
    await side.ask("without a name", ApiVersionsRequest())


async def topics(side: Side) -> None:
    name, other = await side.topic(), await side.topic("another", partitions=1)
    await side.ask("of all", MetadataRequest(topics=None), only=side.name)
    await side.ask("of none", metadata(), only=side.name)
    await side.ask("of two", metadata(other, name))
    await side.ask("of an unknown topic", metadata(f"{side.name}-unknown", allow_auto_topic_creation=False))
    for number, wrong in enumerate(("", "a b", ".", "a" * 250)):
        await side.ask(f"of an invalid name {number}", metadata(wrong))
    await side.ask("of a known and an unknown topic", metadata(name, f"{side.name}-unknown"))
    await side.ask("of a topic twice", metadata(name, name))
    await side.ask("of a null name", metadata(None))
    await side.ask("of ids", metadata(ids=[side.ids[name]]))
    await side.ask("of an unknown id", metadata(ids=[UNKNOWN]))
    await side.ask("of an id and a name", metadata(name, ids=[side.ids[other]]))
    operations: dict[str, Any] = {
        "include_topic_authorized_operations": True,
        "include_cluster_authorized_operations": True,
    }
    await side.ask("with operations", metadata(name, f"{side.name}-unknown", **operations))


async def described_topics(side: Side) -> None:
    name, other = await side.topic(partitions=3), await side.topic("another", partitions=2)
    unknown = f"{side.name}-unknown"
    await side.ask("one", partitions(name))
    await side.ask("two", partitions(name, other))
    await side.ask("unknown", partitions(unknown))
    await side.ask("invalid", partitions("a b"))
    await side.ask("empty name", partitions(""))
    await side.ask("twice", partitions(name, name))
    for limit in (-1, 0, 1, 2, 3, 5):
        await side.ask(f"limit {limit}", partitions(name, other, limit=limit))
    await side.ask("limit before an unknown one", partitions(other, unknown, limit=2))
    for place in ((name, 0), (name, 1), (name, 3), (name, 9), (other, 1), (unknown, 0), ("zzz", 0), (name, -1)):
        await side.ask(f"cursor {place}", partitions(name, other, cursor=place))
        await side.ask(f"cursor and unknown {place}", partitions(name, unknown, cursor=place))
    await side.ask("cursor and limit", partitions(name, other, cursor=(name, 1), limit=1))
    await side.ask("all from a cursor", partitions(cursor=(other, 0)), only=side.name)


async def cluster(side: Side) -> None:
    for kind in (0, 1, 2, 3):
        await side.ask(f"type {kind}", DescribeClusterRequest(endpoint_type=kind))
    await side.ask("fenced", DescribeClusterRequest(include_fenced_brokers=True))
    await side.ask("operations", DescribeClusterRequest(include_cluster_authorized_operations=True))


async def created_topics(side: Side) -> None:
    name, config = side.name, CreateTopicsRequest.CreatableTopicConfig
    await side.ask("new", create(f"{name}-new"))
    await side.visible(f"{name}-new")
    await side.ask("existing", create(f"{name}-new"))
    await side.ask("none", CreateTopicsRequest())
    await side.ask("validated", create(f"{name}-validated", validate_only=True))
    await side.ask("validated existing", create(f"{name}-new", validate_only=True))
    for number, wrong in enumerate(("", ".", "..", "a b", "ä", "a" * 250, "__consumer_offsets")):
        await side.ask(f"named {number}", create(wrong))
    await side.ask("dot", create(f"{name}.dot"))
    await side.ask("underscore", create(f"{name}_dot"))
    for count in (0, -1, -2):
        await side.ask(f"{count} partitions", create(f"{name}-partitions{count}", num_partitions=count))
    for count in (0, -1, -2, 2):
        await side.ask(f"{count} replicas", create(f"{name}-replicas{count}", replication_factor=count))
    await side.ask("two", create(f"{name}-one", f"{name}-two"))
    await side.ask("two of one name", create(f"{name}-same", f"{name}-same"))
    await side.ask("assigned", assigned(f"{name}-assigned", {0: [1], 1: [1]}))
    await side.ask("assigned in any order", assigned(f"{name}-order", {1: [1], 0: [1]}))
    wrong_replicas: tuple[dict[int, list[int]], ...] = (
        {0: [9]}, {0: [1, 1]}, {0: []}, {1: [1]}, {0: [1], 2: [1]}, {0: [-1]}, {-1: [1]}
    )  # fmt: skip
    for number, replicas in enumerate(wrong_replicas):
        await side.ask(f"wrongly assigned {number}", assigned(f"{name}-assigned{number}", replicas))
    await side.ask("assigned and counted", assigned(f"{name}-counted", {0: [1]}, num_partitions=1))
    await side.ask("assigned and replicated", assigned(f"{name}-replicated", {0: [1]}, replication_factor=1))
    for number, (key, value) in enumerate(
        (("retention.ms", "1000"), ("retention.ms", None), ("retention.ms", "long"), ("nonsense", "1"), ("", "1"))
    ):
        configs = [config(name=key, value=value)]
        await side.ask(f"config {number}", create(f"{name}-config{number}", configs=configs))


async def deleted_topics(side: Side) -> None:
    names = [await side.topic(f"{number}", partitions=1) for number in range(4)]
    unknown = f"{side.name}-unknown"
    await side.ask("none", delete())
    await side.ask("by name", delete(names[0]))
    await side.ask("again", delete(names[0]))
    await side.ask("unknown", delete(unknown))
    await side.ask("invalid", delete("a b"))
    await side.ask("empty", delete(""))
    await side.ask("twice", delete(names[1], names[1]))
    await side.ask("one known", delete(unknown, names[1]))
    by_id = delete(ids=[side.ids[names[2]]])
    await side.ask("by id", by_id)
    if await side.version(by_id) >= 6:
        await side.ask("again by id", by_id)
        await side.ask("unknown id", delete(ids=[UNKNOWN]))
        await side.ask("zero id", delete(ids=[ZERO]))
        kind = DeleteTopicsRequest.DeleteTopicState
        both = [kind(name=names[3], topic_id=side.ids[names[3]])]
        await side.ask("by both", DeleteTopicsRequest(topics=both, timeout_ms=5000))
        await side.ask("name and id", delete(names[3], ids=[side.ids[names[3]]]))
    await side.ask("of a deleted one", delete(names[0], names[2]))


async def produced(side: Side) -> None:
    name = await side.topic()
    await side.ask("valid", produce(side, name, batch()))
    await side.ask("to two", produce(side, name, batch(2), batch(3)))
    await side.ask("acks 1", produce(side, name, batch(), acks=1))
    await side.ask("acks 2", produce(side, name, batch(), acks=2))
    await side.ask("no topics", produce(side, name, topic_data=[]))
    await side.ask("no partitions", produce(side, name))
    await side.ask("to a negative partition", produce(side, name, batch(), first=-1))
    await side.ask("to an unknown partition", produce(side, name, batch(), batch(), first=1))
    await side.ask("to an unknown topic", produce(side, f"{side.name}-unknown", batch()))
    await side.ask("to an empty name", produce(side, "", batch()))
    await side.ask("to an internal topic", produce(side, "__consumer_offsets", batch()))
    await side.ask("end", list_offsets(name, -1, -1))
    for label, (data, _) in {**INVALID_BATCHES, "trailing byte": (TRAILING, None)}.items():
        await side.ask(label, produce(side, name, data))
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        await side.ask(f"in {codec}", produce(side, name, batch(3, compression=codec)))
    await side.ask("too large", produce(side, name, write_batch([Record(value=b"v" * 1_048_600, timestamp=START)])))
    await side.ask("from the future", produce(side, name, batch(2, timestamp=1 << 45)))
    await side.ask("without timestamp", produce(side, name, write_batch([Record(value=b"v", timestamp=-1)])))
    await side.ask("with append time", produce(side, name, batch(log_append_time=START)))
    await side.ask("with a base offset", produce(side, name, batch(base_offset=5)))
    await side.ask("with a leader epoch", produce(side, name, batch(leader_epoch=5)))
    await side.ask(
        "transactional without id",
        produce(side, name, batch(producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True)),
    )
    await side.ask("an id without transaction", produce(side, name, batch(), transactional_id="nobody"))
    unknown_producer = batch(producer_id=123_456, producer_epoch=0, base_sequence=0, is_transactional=True)
    await side.ask("of an unknown transaction", produce(side, name, unknown_producer, transactional_id="nobody"))
    await side.ask("mixed", produce(side, name, batch(), b"nonsense"))
    await side.ask("end after all", list_offsets(name, -1, -1))
    await side.ask("all", fetch(side, name, 0, 0))


async def produced_twice(side: Side) -> None:
    name = await side.topic()
    twice = produce(side, name, batch(), batch())
    twice.topic_data[0].partition_data[1].index = 0
    await side.ask("to a partition twice", twice)
    await side.ask("end", list_offsets(name, -1))


async def unacknowledged(side: Side) -> None:
    name = await side.topic()
    connection = await side.connection()
    version = await side.version(produce(side, name))
    await connection.send(produce(side, name, batch(2), acks=0).downgraded(version), version)
    await side.ask("after acks 0", list_offsets(name, -1))
    await connection.send(produce(side, name, b"nonsense", acks=0).downgraded(version), version)
    await side.ask("after an error", list_offsets(name, -1))
    await side.ask("afterwards", list_offsets(name, -1))


async def idempotent(side: Side) -> None:
    name = await side.topic()
    made = await side.ask("new", init(None))
    producer = made.producer_id

    async def send(
        label: str, sequence: int, count: int = 1, epoch: int = 0, index: int = 0, id: int = producer
    ) -> None:
        data = batch(count, producer_id=id, producer_epoch=epoch, base_sequence=sequence)
        await side.ask(label, produce(side, name, data, first=index))

    await send("first", 0)
    await send("second", 1, 2)
    await send("duplicate", 1, 2)
    await send("older duplicate", 0)
    await send("other count", 1, 1)
    await send("gap", 5)
    await send("third", 3)
    for number in range(4, 9):
        await send(f"sequence {number}", number)
    await send("forgotten duplicate", 1, 2)
    await send("duplicate of the last five", 4)
    await send("next epoch in the middle", 9, epoch=1)
    await send("next epoch", 0, epoch=1)
    await send("old epoch", 9)
    await send("start in the middle", 7, index=1)
    await send("unknown producer", 3, id=987_654_321)
    await send("negative sequence", -1)
    await send("negative epoch", 0, epoch=-1, index=1)
    await send("negative epoch of a new producer", 0, epoch=-1, index=1, id=987_654_322)
    transactional = batch(producer_id=producer, producer_epoch=1, base_sequence=1, is_transactional=True)
    await side.ask("transactional of another", produce(side, name, transactional, transactional_id=side.name))
    await side.ask("end", list_offsets(name, -1, -1))


async def filled(side: Side, suffix: str = "topic") -> str:
    """Create a topic of two partitions; partition 0 has batches of 1, 2 and 3 records, one second apart."""
    name = await side.topic(suffix)
    for count, first in ((1, 0), (2, 1), (3, 3)):
        await side.tell(produce(side, name, batch(count, timestamp=START + 1000 * first)))
    return name


async def fetched(side: Side) -> None:
    name = await filled(side)
    for offset in (0, 1, 2, 5, 6, 7, -1):
        await side.ask(f"from {offset}", fetch(side, name, offset))
    await side.ask("of two", fetch(side, name, 0, 0))
    await side.ask("of an unknown topic", fetch(side, f"{side.name}-unknown", 0))
    await side.ask("of an empty name", fetch(side, "", 0))
    await side.ask("of a negative partition", fetch(side, name, 0, first=-1))
    await side.ask("of an unknown partition", fetch(side, name, 0, 0, first=1))
    for epoch in (-1, 0, 1):
        await side.ask(f"leader epoch {epoch}", fetch(side, name, 0, part={"current_leader_epoch": epoch}))
    for epoch, offset in ((0, 0), (0, 6), (0, 7), (1, 0), (1, 6), (-1, 0), (-2, 0), (0, -1)):
        label = f"last epoch {epoch} at {offset}"
        await side.ask(label, fetch(side, name, offset, part={"last_fetched_epoch": epoch, "current_leader_epoch": 0}))
    for size in (0, 1, 100, 200):
        await side.ask(f"max {size}", fetch(side, name, 0, max_bytes=size))
        await side.ask(f"max {size} of a partition", fetch(side, name, 0, part={"partition_max_bytes": size}))
        await side.ask(f"max {size} of two", fetch(side, name, 0, 0, max_bytes=size))
    await side.ask("negative max", fetch(side, name, 0, max_bytes=-1, part={"partition_max_bytes": -1}))
    await side.ask("committed", fetch(side, name, 0, 0, isolation_level=1))
    await side.ask("isolation 2", fetch(side, name, 0, isolation_level=2))
    await side.ask("waiting in vain", fetch(side, name, 6, min_bytes=1, max_wait_ms=50))
    await side.ask("not waiting", fetch(side, name, 0, min_bytes=1 << 20, max_wait_ms=0))
    await side.ask("log start offset", fetch(side, name, 0, part={"log_start_offset": 3}))
    await side.ask("rack", fetch(side, name, 0, rack_id="rack"))
    await side.ask("no topics", fetch(side, name, topics=[]))
    await side.ask("no partitions", fetch(side, name))
    twice = fetch(side, name, 0, 3)
    twice.topics[0].partitions[1].partition = 0
    await side.ask("a partition twice", twice)
    await side.ask("unknown session", fetch(side, name, 0, session_id=77, session_epoch=1))
    await side.ask("session without id", fetch(side, name, 0, session_id=0, session_epoch=1))
    await side.ask("closed session", fetch(side, name, 0, session_id=77, session_epoch=-1))
    await side.ask("new session", fetch(side, name, 0, session_epoch=0))
    waiting = side.start("while a record arrives", fetch(side, name, 6, min_bytes=1, max_wait_ms=10_000))
    other = Side(side.port, side.name, 99)
    other.ids = side.ids
    await other.tell(produce(other, name, batch()))
    await other.close()
    await waiting


async def listed_offsets(side: Side) -> None:
    name = await filled(side)
    for timestamp in (-1, -2, -3, -4, -5, -6, -7, 0, START, START + 1, START + 2500, START + 5000, START + 5001):
        await side.ask(f"at {timestamp}", list_offsets(name, timestamp, timestamp))
        await side.ask(f"committed at {timestamp}", list_offsets(name, timestamp, isolation_level=1))
    await side.ask("of an unknown topic", list_offsets(f"{side.name}-unknown", -1))
    await side.ask("of an empty name", list_offsets("", -1))
    await side.ask("of a negative partition", list_offsets(name, -1, first=-1))
    await side.ask("of an unknown partition", list_offsets(name, -1, -1, first=1))
    for epoch in (-1, 0, 1, -5):
        await side.ask(f"leader epoch {epoch}", list_offsets(name, -1, part={"current_leader_epoch": epoch}))
    for replica in (0, 1, -2, -3):
        await side.ask(f"replica {replica}", list_offsets(name, -1, replica_id=replica))
    twice = list_offsets(name, -1, -2)
    twice.topics[0].partitions[1].partition_index = 0
    await side.ask("a partition twice", twice)
    await side.ask("no topics", list_offsets(name, topics=[]))
    await side.ask("no partitions", list_offsets(name))
    await side.ask("isolation 2", list_offsets(name, -1, isolation_level=2))


async def epochs(side: Side) -> None:
    name = await filled(side)
    for epoch in (-1, 0, 1, -2):
        await side.ask(f"epoch {epoch}", leader_epochs(name, epoch, epoch))
        await side.ask(f"current {epoch}", leader_epochs(name, 0, current=epoch))
    await side.ask("unknown topic", leader_epochs(f"{side.name}-unknown", 0))
    await side.ask("unknown partition", leader_epochs(name, 0, 0, first=1))
    await side.ask("negative partition", leader_epochs(name, 0, first=-1))
    await side.ask("no partitions", leader_epochs(name))
    await side.ask("no topics", OffsetForLeaderEpochRequest(replica_id=-1))


TOPICS = (
    api_versions,
    topics,
    described_topics,
    cluster,
    created_topics,
    deleted_topics,
    produced,
    produced_twice,
    unacknowledged,
    idempotent,
    fetched,
    listed_offsets,
    epochs,
)
