"""Mock broker with the topic greetings: `python examples/mock_broker.py`."""

import time
from contextlib import suppress

from kafka_messages_testkit import KafkaCluster

if __name__ == "__main__":
    with suppress(KeyboardInterrupt), KafkaCluster(topics={"greetings": 1}) as cluster:
        print(f"listening at {cluster.bootstrap_servers}", flush=True)
        while True:
            time.sleep(1)
