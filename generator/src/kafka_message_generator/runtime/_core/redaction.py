"""Text form of messages and structs, with secrets replaced by ``'(redacted)'``."""

from __future__ import annotations

import json
from weakref import WeakKeyDictionary

from .described import message_of
from .display import in_short
from .optional import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

REDACTED = "'(redacted)'"
UNKNOWN = "unknown_tagged_fields"
_rules: WeakKeyDictionary[type, dict[str, Any]] = WeakKeyDictionary()


def text_of(struct: Any, *, is_revealed: bool = False, field: str = "", around: tuple[Any, ...] = ()) -> str:
    """Return the text form of a struct, the value of ``field``; ``around`` has the enclosing structs, outermost first."""
    cls = type(struct)
    redacted = () if is_revealed else list(secret_names(struct, field, around))
    texts = []
    for name in cls._names:
        value = getattr(struct, name)
        if name == UNKNOWN and not value:
            continue
        texts.append(f"{name}={REDACTED if name in redacted else _value(value, is_revealed, name, (*around, struct))}")
    return f"{cls.__name__}({', '.join(texts)})"


def _value(value: Any, is_revealed: bool, field: str, around: tuple[Any, ...]) -> str:
    kind = type(value)
    if isinstance(value, list | tuple) and value and hasattr(type(value[0]), "_names"):
        text = ", ".join(_value(each, is_revealed, field, around) for each in value)
        if kind is tuple:
            return f"({text},)" if len(value) == 1 else f"({text})"
        if kind is list or hasattr(kind, "find_all"):
            return f"[{text}]" if kind is list else f"{kind.__name__}([{text}])"
    if hasattr(kind, "_names") and (is_revealed or kind.__repr__ is type(around[0]).__repr__):
        return text_of(value, is_revealed=is_revealed, field=field, around=around)
    return in_short(value)


def secret_names(
    struct: Any, field: str = "", around: tuple[Any, ...] = (), rules: dict[str, Any] | None = None
) -> Iterator[str]:
    for name, rule in (_rules_of(type(struct)) if rules is None else rules).items():
        if not _is_empty(getattr(struct, name)) and _is_secret(rule, struct, field, around):
            yield name


def secret_structs(cls: type) -> dict[str, list[dict[str, Any]]]:
    """Return field descriptors by struct, the message first; empty if the message declares no secrets."""
    owner = message_of(cls)
    if owner is None or '"secret":' not in owner._descriptor:
        return {}
    descriptor = json.loads(owner._descriptor)
    return {descriptor["name"]: descriptor["fields"], **descriptor.get("structs", {})}


def _rules_of(cls: type) -> dict[str, Any]:
    # Unknown tagged fields count as secret if the message declares secrets.
    found = _rules.get(cls)
    if found is None:
        found = {}
        if structs := secret_structs(cls):
            name = next(base.__name__ for base in cls.__mro__ if base.__name__ in structs)
            found = {field["name"]: field["secret"] for field in structs[name] if "secret" in field} | {UNKNOWN: True}
        _rules[cls] = found  # assigned last, so that no other thread sees an empty dict
    return found


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | bytes | bytearray | tuple) and len(value) == 0)


def _is_secret(marker: Any, struct: Any, field: str, around: tuple[Any, ...]) -> bool:
    # Config values are secret unless ``secrets`` knows the config as public.
    if marker is True:
        return True
    if field and field not in marker.get("in", (field,)):
        return False
    name, rule = getattr(struct, marker["name"], None), optional("secrets")
    if rule is None or not isinstance(name, str):
        return True
    holders = [each for each in (struct, *reversed(around)) if hasattr(each, marker.get("resourceType", ""))]
    return bool(rule.is_secret_setting(name, getattr(holders[0], marker["resourceType"]) if holders else None))
