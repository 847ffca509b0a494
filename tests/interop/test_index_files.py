"""Index files of a real broker: starts by time and committed records equal the broker's answers."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_messages_spark.sources._files import FileSelection
from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource, _isolation, _lookup

if TYPE_CHECKING:
    from tests.interop.broker import Broker

TOPIC, FIRST, STEP = "indexed", 4_000_000_000_000, 50
"""Topic, time of the first record (later than the markers of transactions), and time between transactions, in ms."""
# The shortest segments that a broker accepts; an entry in an index every 4 KiB.
SETTINGS = {"segment.bytes": str(1 << 20), "retention.ms": "-1", "message.timestamp.after.max.ms": str(1 << 62)}


def write(broker: Broker, transactions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1, config=SETTINGS)])[TOPIC].result(30)
    choose = random.Random(1)
    producers = []
    for number in range(3):
        options = {"bootstrap.servers": broker.bootstrap, "transactional.id": f"id-{number}", "linger.ms": 0}
        producers.append(Producer(options))
        producers[-1].init_transactions(30)
    for number in range(transactions):
        producer = producers[number % 3]
        producer.begin_transaction()
        for _ in range(4):
            time = FIRST + number * STEP + choose.randrange(-5 * STEP, 1)
            producer.produce(TOPIC, choose.randbytes(5000), partition=0, timestamp=max(FIRST, time))
        producer.flush(30)
        (producer.abort_transaction if choose.random() < 0.3 else producer.commit_transaction)(30)
    producers[0].begin_transaction()
    producers[0].produce(TOPIC, b"open", partition=0, timestamp=FIRST + transactions * STEP)
    producers[0].flush(30)


def committed(broker: Broker) -> list[int]:
    options = {"bootstrap.servers": broker.bootstrap, "group.id": "g", "isolation.level": "read_committed"}
    consumer = Consumer(options | {"auto.offset.reset": "earliest", "enable.partition.eof": True})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[int] = []
    while (message := consumer.poll(30)) is not None and message.error() is None:
        found.append(message.offset() or 0)
    consumer.close()
    return found


def start(broker: Broker, time: int) -> int:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g", "isolation.level": "read_uncommitted"})
    (found,) = consumer.offsets_for_times([TopicPartition(TOPIC, 0, time)], timeout=30)
    consumer.close()
    return int(found.offset)


def offsets(folder: Path, **options: str) -> list[int]:
    source = KafkaLogDataSource({"path": str(folder), **options})
    reader: Any = source.reader(source.schema())
    return [at for part in reader.partitions() for rows in reader.read(part) for at in rows["offset"].to_pylist()]


def test_indexes_of_a_broker(quiet_broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(quiet_broker, 300)
    expected = committed(quiet_broker)
    times = [FIRST + number * STEP + shift for number in (0, 1, 40, 120, 200, 299) for shift in (-7, 0, 3)]
    starts = [start(quiet_broker, time) for time in times]
    with quiet_broker.paused():
        log = tmp_path / f"{TOPIC}-0"
        shutil.copytree(quiet_broker.logs / log.name, log)
    files = sorted(log.glob("*.log"))
    assert len(files) > 4
    assert list(log.glob("*.txnindex"))
    read: list[tuple[str, int]] = []
    headers = _lookup.headers

    def counted(file: Any, position: int = 0) -> Any:
        read.append((file.base_name, position))
        return headers(file, position)

    for module, name in ((_lookup, "headers"), (_isolation, "headers_of")):
        monkeypatch.setattr(module, name, counted)
    assert offsets(log, isolationLevel="read_committed") == expected
    assert read == [(files[-1].name, 0)]
    for time, offset in zip(times, starts, strict=True):
        del read[:]
        assert _lookup.offset_for_time(FileSelection((str(log),)).find(""), time) == offset
        assert len([position for _, position in read if not position]) <= 1
    without = tmp_path / "without" / log.name
    without.mkdir(parents=True)
    for file in files:
        shutil.copy(file, without)
    assert offsets(without, isolationLevel="read_committed") == expected
