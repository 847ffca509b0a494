"""Conformance suite for Kafka's protocol; see the command ``kafka-conformance``."""
