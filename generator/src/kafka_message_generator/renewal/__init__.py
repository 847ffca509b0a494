"""A new release of Kafka: its definitions taken in, compared with those before it, and what is ours to decide about them."""
