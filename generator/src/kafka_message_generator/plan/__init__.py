"""The wire layout of each version of a message, as a sequence of operations."""
