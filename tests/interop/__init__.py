"""A real broker, what its clients do, and what Kafka's own tools say of the outcome; see docs/interop.md."""
