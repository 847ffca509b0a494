"""Base classes of messages, and functions that find and read messages by name."""
