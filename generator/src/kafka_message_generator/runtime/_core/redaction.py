"""The text of messages and structs: each field by name, and ``'(redacted)'`` where a secret is."""

from __future__ import annotations

import json
from weakref import WeakKeyDictionary

from .described import message_of
from .optional import optional
from .shown import in_short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REDACTED = "'(redacted)'"
_UNKNOWN = "unknown_tagged_fields"
_secrets: WeakKeyDictionary[type, dict[str, Any]] = WeakKeyDictionary()


def text_of(struct: Any, *, is_revealed: bool = False, field: str = "", around: tuple[Any, ...] = ()) -> str:
    """Return the text of a struct; ``around`` are the structs that it is in, the outermost first, ``field`` what holds it.

    Null and empty values are never redacted. A struct whose class has a ``__repr__`` of its own prints itself.
    """
    cls = type(struct)
    secrets = {} if is_revealed else _secrets_of(cls)
    texts = []
    for name in cls._names:
        value = getattr(struct, name)
        if name == _UNKNOWN and not value:
            continue
        is_redacted = name in secrets and not _is_empty(value) and _is_secret(secrets[name], struct, field, around)
        texts.append(f"{name}={REDACTED if is_redacted else _value(value, is_revealed, name, (*around, struct))}")
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


def _secrets_of(cls: type) -> dict[str, Any]:
    """Return what the definition says of the secret fields of a class, by name; of unknown fields if it has any secret."""
    found = _secrets.get(cls)
    if found is None:
        found = {}
        owner = message_of(cls)
        if owner is not None and '"secret":' in owner._descriptor:
            facts = json.loads(owner._descriptor)
            structs = {facts["name"]: facts["fields"], **facts.get("structs", {})}
            name = next(base.__name__ for base in cls.__mro__ if base.__name__ in structs)
            found = {field["name"]: field["secret"] for field in structs[name] if "secret" in field} | {_UNKNOWN: True}
        _secrets[cls] = found  # last: another thread must not see it empty
    return found


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | bytes | bytearray) and len(value) == 0)


def _is_secret(fact: Any, struct: Any, field: str, around: tuple[Any, ...]) -> bool:
    """Return whether a value is secret: a setting that the part ``secrets`` does not know to be open, or any in a package
    without that part.
    """
    if fact is True:
        return True
    if field and field not in fact.get("in", (field,)):
        return False
    name, rule = getattr(struct, fact["name"], None), optional("secrets")
    if rule is None or not isinstance(name, str):
        return True
    holders = [each for each in (struct, *reversed(around)) if hasattr(each, fact.get("resourceType", ""))]
    return bool(rule.is_secret_setting(name, getattr(holders[0], fact["resourceType"]) if holders else None))
