"""Base classes of messages, and access to messages by name."""
