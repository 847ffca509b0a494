"""Messages encoded by Kafka's own classes, and Kafka's own tables."""
