"""Checks of ``kips.json``."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_message_generator.rules.paths import Messages
from kafka_message_generator.spec.kips import KipAnnotation
from kafka_message_generator.spec.source import Problems

Kips = Mapping[str, Mapping[int, tuple[int, ...]]]  # KIPs, ascending, by message and version


def resolve(annotations: tuple[KipAnnotation, ...], messages: Messages, problems: Problems) -> Kips:
    """Resolve all entries; the result is valid only if ``problems`` has no errors."""
    found: dict[str, dict[int, tuple[int, ...]]] = {}
    for each in sorted(annotations, key=lambda each: each.kip):
        known = messages.get(each.message)
        if known is None:
            problems.error(each.location, f"unknown message {each.message!r}; correct or remove it")
        elif not known[0].valid.covers(each.versions):
            what = f"{each.message} has versions {known[0].valid}, not {each.versions}"
            problems.error(each.location, f"{what}; correct or remove the entry")
        else:
            for version in each.versions:
                of_message = found.setdefault(each.message, {})
                of_message[version] = (*of_message.get(version, ()), each.kip)
    return found
