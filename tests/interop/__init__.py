"""Tests with a real broker, its clients and Kafka's own tools; see docs/interop.md."""
