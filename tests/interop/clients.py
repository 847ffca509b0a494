"""Python clients that talk to a broker: ``python -m tests.interop.clients CLIENT BOOTSTRAP``."""

from __future__ import annotations

import argparse
from typing import Any

USER, PASSWORD = "alice", "planted-secret-of-alice"
TOPIC = "captured"
SECONDS = 30


def kafka_python(bootstrap: str) -> None:
    """Produce, consume and send admin requests with kafka-python, first with SCRAM, then with PLAIN."""
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.admin import KafkaAdminClient, NewTopic

    for mechanism in ("SCRAM-SHA-256", "PLAIN"):
        sasl: dict[str, Any] = {
            "bootstrap_servers": bootstrap,
            "client_id": f"py-{mechanism.lower()}",
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": mechanism,
            "sasl_plain_username": USER,
            "sasl_plain_password": PASSWORD,
        }
        topic = f"{TOPIC}-{mechanism.lower()}"
        admin = KafkaAdminClient(**sasl)
        admin.create_topics([NewTopic(name=topic, num_partitions=1, replication_factor=1)])
        admin.close()
        producer = KafkaProducer(acks=0 if mechanism == "PLAIN" else "all", **sasl)
        for number in range(3):
            producer.send(topic, key=b"k%d" % number, value=b"v%d" % number)
        producer.flush()
        producer.close()
        consumer = KafkaConsumer(
            topic, group_id=f"group-{mechanism.lower()}", auto_offset_reset="earliest", consumer_timeout_ms=6000, **sasl
        )
        if len([consumer.__next__() for _ in range(3)]) != 3:
            raise SystemExit("records are missing")
        consumer.close()


def librdkafka(bootstrap: str) -> None:
    """Produce in a transaction, consume, and request an unknown topic with librdkafka."""
    from confluent_kafka import Consumer, Producer
    from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

    common: dict[str, str | int | float | bool] = {"bootstrap.servers": bootstrap, "client.id": "rd-client"}
    admin = AdminClient(common)
    for future in admin.create_topics([NewTopic(f"{TOPIC}-rd", 2, 1)]).values():
        future.result(SECONDS)
    try:
        for future in admin.create_topics([NewTopic(f"{TOPIC}-rd", 2, 1)]).values():  # expected error
            future.result(SECONDS)
    except Exception as error:  # the expected one, which is printed
        print(type(error).__name__)
    producer = Producer({**common, "transactional.id": "rd-transaction", "compression.type": "gzip"})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    for number in range(20):
        producer.produce(f"{TOPIC}-rd", key=str(number), value=f"value {number}" * 10)
    producer.commit_transaction(SECONDS)
    consumer = Consumer({**common, "group.id": "rd-group", "auto.offset.reset": "earliest"})
    consumer.subscribe([f"{TOPIC}-rd"])
    seen = 0
    for _ in range(SECONDS * 2):
        message = consumer.poll(0.5)
        seen += message is not None and message.error() is None
        if seen == 20:
            break
    consumer.commit(asynchronous=False)
    consumer.close()
    for future in admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, f"{TOPIC}-rd")]).values():
        future.result(SECONDS)


CLIENTS = {"kafka-python": kafka_python, "librdkafka": librdkafka}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.clients", description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("bootstrap")
    options = parser.parse_args()
    CLIENTS[options.client](options.bootstrap)


if __name__ == "__main__":
    main()
