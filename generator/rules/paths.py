"""Fields by the names on the way to them, as files beside the definitions have them: ``Topics.Name``."""

from __future__ import annotations

from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.rules.presence import StructTable
from kafka_message_generator.spec.model import Field, Message
from kafka_message_generator.spec.secrets import FieldPath


def field_at(path: FieldPath, message: Message, structs: StructTable) -> Field | None:
    """The field that a path leads to; None if there is none."""
    members = message.fields + message.optional_fields
    found: Field | None = None
    for name in path.names:
        found = next((member for member in members if member.name == name), None)
        if found is None:
            return None
        members = structs[found.type.name].members if found.type.is_struct else ()
    return found


def python_path(path: FieldPath) -> str:
    """The path with the names that the fields have in Python."""
    return ".".join(snake_case(name) for name in path.names)
