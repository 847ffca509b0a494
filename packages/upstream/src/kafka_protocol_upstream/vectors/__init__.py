"""Proof from Kafka itself: sample messages encoded by Kafka's own classes, and Kafka's own tables."""
