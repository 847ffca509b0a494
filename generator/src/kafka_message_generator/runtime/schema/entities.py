"""Entity types of fields, such as ``topicName``."""

from __future__ import annotations

from .descriptors import descriptor_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .descriptors import HasDescriptor


def entity_types(message: type[HasDescriptor]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the entity types of a message's fields, by struct and field name."""
    from ._entities import ENTITIES

    return {(struct, field): types for struct, field, types in ENTITIES.get(descriptor_of(message).name, ())}
