"""Kafka's published jars and the definitions inside them."""
