"""The definitions of every Kafka release, as facts: how they are kept, and how they come out of the jars."""
