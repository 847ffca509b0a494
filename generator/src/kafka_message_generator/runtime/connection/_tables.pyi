"""What the renderer prints into ``connection/_tables.py`` of a package, for type checkers that look at these sources."""

from typing import Any

from .._base.message import Response

ApiVersionsResponse = Response
ErrorResponseRule = tuple[str, str, int, int, tuple[str, ...] | None, Any]
Named = tuple[str, str, str, str, str, str, dict[int | str, str], str]
ERROR_RESPONSES: tuple[ErrorResponseRule, ...]
ENTITIES: tuple[Named, ...]
