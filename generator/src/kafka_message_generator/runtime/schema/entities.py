"""The entity types of fields: what the values of a field name."""

from __future__ import annotations

from .facts import facts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .facts import HasDescriptor


def entity_types(message: type[HasDescriptor]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the entity types of a message's fields, such as ``topicName``, by struct and field.

    The message itself is the struct of its own fields. A field has several types if another field says which one it is.
    """
    from ._entities import ENTITIES

    return {(struct, field): types for struct, field, types in ENTITIES.get(facts_of(message).name, ())}
