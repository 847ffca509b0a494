"""The protocol as data for other languages: ``protocol.json`` and its JSON Schema."""
