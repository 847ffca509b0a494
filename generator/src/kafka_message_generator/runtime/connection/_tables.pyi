"""Types of the generated module ``connection/_tables.py``."""

from typing import Any

from .._base.message import Response

ApiVersionsResponse = Response
ErrorResponseRule = tuple[str, str, int, int, tuple[str, ...] | None, Any]
Named = tuple[str, str, str, str, str, str, dict[int | str, str], str]
EntityType = str
ERROR_RESPONSES: tuple[ErrorResponseRule, ...]
ENTITIES: tuple[Named, ...]
ENTITY_TYPES: tuple[EntityType, ...]
