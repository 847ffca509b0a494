"""Kafka's published jars: what they are called, and the definitions inside them as facts."""
