"""Display names of metadata entities."""

from __future__ import annotations

from typing import Any

_RESOURCES = {2: "topic", 4: "broker", 8: "broker logger", 16: "client metrics", 32: "group"}
_ACL_RESOURCES = {2: "topic", 3: "group", 4: "cluster", 5: "transactional id", 6: "delegation token", 7: "user"}
_OPERATIONS = dict(
    enumerate(
        (
            "all",
            "read",
            "write",
            "create",
            "delete",
            "alter",
            "describe",
            "cluster action",
            "describe configs",
            "alter configs",
            "idempotent write",
            "create tokens",
            "describe tokens",
            "two-phase commit",
        ),
        2,
    )
)
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


# Names of enum values in ACL fields, keyed by field and number.
ACL_WORDS = {
    f"{field} {number}": word
    for field, words in (
        ("resource_type", _ACL_RESOURCES),
        ("pattern_type", {3: "literal", 4: "prefixed"}),
        ("operation", _OPERATIONS),
        ("permission_type", {2: "deny", 3: "allow"}),
    )
    for number, word in words.items()
}


def name_of(entity: str, key: list[Any], fields: dict[str, Any], topic: str | None = None) -> str:
    if entity == "topic":
        return str(fields.get("name") or topic or key[0])
    if entity == "partition":
        return f"{topic or key[0]}-{key[1]}" if len(key) > 1 else str(topic or key[0])
    if entity == "config":
        return f"{_RESOURCES.get(key[0], key[0])} {key[1] or '(default)'}: {key[2]}" if len(key) > 2 else str(key)
    if entity == "client quota":
        parts = [f"{part['entity_type']} {part['entity_name'] or '(default)'}" for part in key[0]]
        return f"{', '.join(parts)}: {key[1]}"
    if entity == "scram credential":
        return f"{key[0]} {_MECHANISMS.get(key[1], key[1])}"
    if entity == "acl" and fields:
        verb = "may" if fields["permission_type"] == 3 else "may not"
        kind = _ACL_RESOURCES.get(fields["resource_type"], fields["resource_type"])
        star = "*" if fields["pattern_type"] == 4 else ""
        what = f"{_OPERATIONS.get(fields['operation'], fields['operation'])} {kind} {fields['resource_name']}{star}"
        return f"{fields['principal']} {verb} {what} from {fields['host']}"
    return ", ".join(map(str, key)) or entity
