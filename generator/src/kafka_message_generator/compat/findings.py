"""Rules of compatibility and their findings."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.compat.witness import Witness
from kafka_message_generator.plan.model import ranges
from kafka_message_generator.spec.source import Location

ADVICE = "advice"
LEVELS = ("wire", "behaviour", "json", "api", "policy", ADVICE)
"""Levels by severity, worst first; each includes those before it."""

_README = "Kafka's guide to message definitions"


@dataclass(frozen=True)
class Rule:
    name: str
    level: str
    finds: str
    reason: str
    source: str


_RULES = (
    Rule(
        "RELEASED_LAYOUT_CHANGED",
        "wire",
        "the bytes of a released version mean something else, or cannot be read",
        "Programs of both sides exchange these bytes; a change belongs into a new version.",
        f"{_README}, Incompatible Changes",
    ),
    Rule(
        "TAGGED_DEFAULT_CHANGED",
        "wire",
        "a tagged field that is left out means another value in a released version",
        "A value at its default is not written, so the default is part of what the bytes mean.",
        "KIP-482",
    ),
    Rule(
        "TAG_REUSED",
        "wire",
        "a tag stands for another field than it ever did in a release",
        "Bytes of an older program would be read as the new field.",
        f"{_README}, Tagged Fields",
    ),
    Rule(
        "TAG_MOVED",
        "wire",
        "a field has another tag than it had in a release",
        "Neither side finds the value of the other one.",
        f"{_README}, Tagged Fields",
    ),
    Rule(
        "HEADER_VERSION_CHANGED",
        "wire",
        "another header version stands before a released version",
        "The header would be read in the wrong form, and the body from the wrong place.",
        "KIP-482, KIP-511",
    ),
    Rule(
        "API_KEY_CHANGED",
        "wire",
        "a message has another apiKey than it had in a release, or none",
        "The other side would take it for another message.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "MESSAGE_TYPE_CHANGED",
        "wire",
        "a message with an apiKey has another type than it had in a release",
        "Each type counts its keys for itself: the number stands for another message there, or for none.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "API_KEY_REUSED",
        "wire",
        "an apiKey belongs to a message of another name in a release",
        "Older programs know this number as something else.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "DEFAULT_CHANGED",
        "behaviour",
        "a field has another default",
        "What is not set is something else than before, on either side.",
        f"{_README}, Incompatible Changes",
    ),
    Rule(
        "IGNORABLE_CHANGED",
        "behaviour",
        "a field that a version lacks is dropped where it was refused, or refused where it was dropped",
        "Dropped values are lost without a word; refused ones make working code fail.",
        f"{_README}, Ignorable Fields",
    ),
    Rule(
        "JSON_NAME_CHANGED",
        "json",
        "a field has another name in Kafka's JSON",
        "Tools print and read messages by these names.",
        "Kafka's JSON converters",
    ),
    Rule(
        "JSON_TYPE_CHANGED",
        "json",
        "a field has another kind of value in Kafka's JSON",
        "What reads the JSON expects the kind it knows.",
        "Kafka's JSON converters",
    ),
    Rule(
        "FIELD_RENAMED",
        "api",
        "the attribute of a field has another name",
        "Code that uses the field does not find it.",
        "this package",
    ),
    Rule("FIELD_GONE", "api", "a field is gone", "Code that uses the field does not find it.", "this package"),
    Rule(
        "PYTHON_TYPE_CHANGED",
        "api",
        "the attribute of a field has another Python type",
        "Code that uses the field is given, or gives, the wrong type.",
        "this package",
    ),
    Rule(
        "CLASS_MOVED",
        "api",
        "the struct of a field has another name",
        "Code imports the class by its name.",
        "this package",
    ),
    Rule(
        "COLLECTION_CHANGED",
        "api",
        "an array has other keys, or has keys on one side only",
        "The parameters of find change with the keys.",
        "this package",
    ),
    Rule(
        "MESSAGE_RENAMED",
        "api",
        "a message has another name; its bytes are what they were",
        "Code imports the class by its name.",
        "this package",
    ),
    Rule("MESSAGE_REMOVED", "api", "a message is gone", "Code imports the class.", "this package"),
    Rule(
        "VERSION_DROPPED",
        "policy",
        "a version of a message is gone",
        "Programs that speak no other version are left out; Kafka decides that by a proposal.",
        "KIP-97, KIP-896",
    ),
    Rule(
        "VERSION_SKIPPED",
        "policy",
        "new versions do not follow the released ones",
        "Versions are counted; one that was never defined can be meant by nobody.",
        f"{_README}, Versions",
    ),
    Rule(
        "LISTENER_REMOVED",
        "policy",
        "a listener does not take a request any more",
        "Clients that send it there get an error.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "UNSTABLE_RELEASED",
        "advice",
        "a version that was free to change is released",
        "From now on it cannot be changed.",
        "KIP-848 and others that used latestVersionUnstable",
    ),
    Rule(
        "TAGGED_FIELD_ADDED",
        "advice",
        "a released version has one more tagged field",
        "This is what tagged fields are for: no version is needed, unless clients shall see who knows the field.",
        "KIP-482",
    ),
    Rule(
        "TAGGED_FIELD_REMOVED",
        "advice",
        "a released version has a tagged field less",
        "Both sides go on understanding each other; the tag is used up for ever.",
        f"{_README}, Tagged Fields",
    ),
    Rule(
        "VERSION_WITHOUT_CHANGE",
        "advice",
        "a new version has the layout of the one before it",
        "Versions may count what bytes do not show; a reader of the definition wonders.",
        f"{_README}, Versions",
    ),
    Rule(
        "ENTITY_TYPE_CHANGED",
        "advice",
        "a field names another kind of thing",
        "Tools that rewrite topics, groups or hosts go by it.",
        f"{_README}, Entity types",
    ),
)
RULES = {rule.name: rule for rule in _RULES}


@dataclass(frozen=True)
class Direction:
    """Result of reading the other side's bytes."""

    breaks: str | None
    """None if provably compatible; otherwise ``fails``, ``reads differently``, ``rewrites differently``, or
    ``differs`` without a witness.
    """
    witness: Witness | None = None


@dataclass(frozen=True)
class Finding:
    rule: str
    message: str
    path: str
    """Field path, such as ``Topics[].Name``; empty for the message itself."""
    versions: tuple[int, ...]
    what: str
    remedy: str
    location: Location
    before: str = ""
    after: str = ""
    """New state: a digest, or a short value. Waivers are bound to both states."""
    since: str = ""
    reason: str = ""
    """For a changed layout: a key of ``compare.REASONS``."""
    new_reads_old: Direction | None = None
    old_reads_new: Direction | None = None

    @property
    def level(self) -> str:
        return RULES[self.rule].level

    @property
    def place(self) -> str:
        """Message, versions and field: ``FetchRequest 4-12 Topics[].Name``."""
        words = (self.message, ranges(self.versions), self.path)
        return " ".join(word for word in words if word)
