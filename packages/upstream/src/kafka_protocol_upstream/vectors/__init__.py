"""Test vectors and tables, written with Kafka's own classes."""
