"""Fields under other names on two sides, and what that makes of paths."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_message_generator.history.sides import Side
from kafka_message_generator.layouts.renames import renamed


def renames(name: str, before: Side, after: Side) -> dict[str, str]:
    """The paths of a message's fields by their former ones, for those that have another name."""
    former, now = ({path for path, _ in side.members(name)} for side in (before, after))
    return renamed(before.plans[name], after.plans[name], former, now) if former - now else {}


def path_now(path: str, renames: Mapping[str, str]) -> str:
    """The path of a field now, where it or what holds it has another name."""
    for former, now in sorted(renames.items(), key=lambda item: -len(item[0])):
        if path == former or path.startswith((f"{former}.", f"{former}[]")):
            return now + path[len(former) :]
    return path
