"""Compatibility rules, and findings, which are changes that violate a rule."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.compat.witness import Witness
from kafka_message_generator.plan.model import ranges
from kafka_message_generator.spec.source import Location

ADVICE = "advice"
LEVELS = ("wire", "behavior", "json", "api", "policy", ADVICE)
"""Levels of severity, worst first; each includes the levels before it."""

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
        "the bytes of a released version have another meaning or cannot be read",
        "Old and new programs exchange these bytes; changes require a new version.",
        f"{_README}, Incompatible Changes",
    ),
    Rule(
        "TAGGED_DEFAULT_CHANGED",
        "wire",
        "the value of an omitted tagged field changed in a released version",
        "Default values are not written, so the default is part of the encoding.",
        "KIP-482",
    ),
    Rule(
        "TAG_REUSED",
        "wire",
        "a tag is reused for another field",
        "Bytes of an older program would be read as the new field.",
        f"{_README}, Tagged Fields",
    ),
    Rule(
        "TAG_MOVED",
        "wire",
        "the tag of a field changed",
        "Neither side reads the value that the other side writes.",
        f"{_README}, Tagged Fields",
    ),
    Rule(
        "HEADER_VERSION_CHANGED",
        "wire",
        "the header version of a released version changed",
        "The header would be misread, and the body would start at the wrong offset.",
        "KIP-482, KIP-511",
    ),
    Rule(
        "API_KEY_CHANGED",
        "wire",
        "the apiKey of a message changed or was removed",
        "The other side would decode it as another message.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "MESSAGE_TYPE_CHANGED",
        "wire",
        "the type of a message with an apiKey changed",
        "Each type has its own keys: the number is another message there, or unknown.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "API_KEY_REUSED",
        "wire",
        "the apiKey belongs to another message in a release",
        "Older programs use this key for another message.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "DEFAULT_CHANGED",
        "behavior",
        "the default of a field changed",
        "Unset fields have another value than before, on both sides.",
        f"{_README}, Incompatible Changes",
    ),
    Rule(
        "IGNORABLE_CHANGED",
        "behavior",
        "a field that a version lacks is now dropped instead of rejected, or rejected instead of dropped",
        "Dropped values are lost silently; rejected values break working code.",
        f"{_README}, Ignorable Fields",
    ),
    Rule(
        "JSON_NAME_CHANGED",
        "json",
        "the name of a field in Kafka's JSON changed",
        "Tools print and read messages by these names.",
        "Kafka's JSON converters",
    ),
    Rule(
        "JSON_TYPE_CHANGED",
        "json",
        "the type of a field in Kafka's JSON changed",
        "Readers of the JSON expect the previous type.",
        "Kafka's JSON converters",
    ),
    Rule(
        "FIELD_RENAMED",
        "api",
        "the attribute of a field was renamed",
        "Code that uses the field fails.",
        "this package",
    ),
    Rule("FIELD_GONE", "api", "a field was removed", "Code that uses the field fails.", "this package"),
    Rule(
        "PYTHON_TYPE_CHANGED",
        "api",
        "the Python type of a field changed",
        "Code that reads or sets the field uses the wrong type.",
        "this package",
    ),
    Rule(
        "CLASS_MOVED",
        "api",
        "the struct of a field was renamed",
        "Code uses the class by its name.",
        "this package",
    ),
    Rule(
        "COLLECTION_CHANGED",
        "api",
        "the keys of an array changed",
        "The parameters of find change with the keys.",
        "this package",
    ),
    Rule(
        "MESSAGE_RENAMED",
        "api",
        "a message was renamed; its bytes are unchanged",
        "Code imports the class by its name.",
        "this package",
    ),
    Rule("MESSAGE_REMOVED", "api", "a message was removed", "Code imports the class.", "this package"),
    Rule(
        "VERSION_DROPPED",
        "policy",
        "a version of a message was removed",
        "Programs that support no other version stop working; Kafka requires a proposal (KIP).",
        "KIP-97, KIP-896",
    ),
    Rule(
        "VERSION_SKIPPED",
        "policy",
        "new versions do not continue the released ones",
        "Versions are consecutive; a skipped version has no meaning.",
        f"{_README}, Versions",
    ),
    Rule(
        "LISTENER_REMOVED",
        "policy",
        "a listener no longer accepts a request",
        "Clients that send it there get an error.",
        f"{_README}, Requests and Responses",
    ),
    Rule(
        "UNSTABLE_RELEASED",
        "advice",
        "an unstable version was released",
        "It can no longer change.",
        "KIP-848 and others that used latestVersionUnstable",
    ),
    Rule(
        "TAGGED_FIELD_ADDED",
        "advice",
        "a released version has one more tagged field",
        "Tagged fields need no new version, unless clients must detect support for the field.",
        "KIP-482",
    ),
    Rule(
        "TAGGED_FIELD_REMOVED",
        "advice",
        "a released version has one tagged field fewer",
        "Both sides remain compatible; the tag must never be reused.",
        f"{_README}, Tagged Fields",
    ),
    Rule(
        "VERSION_WITHOUT_CHANGE",
        "advice",
        "a new version has the layout of the previous one",
        "The version may stand for a change of behavior, or be a mistake.",
        f"{_README}, Versions",
    ),
    Rule(
        "ENTITY_TYPE_CHANGED",
        "advice",
        "the entity type of a field changed",
        "Tools that rewrite topics, groups or hosts depend on it.",
        f"{_README}, Entity types",
    ),
)
RULES = {rule.name: rule for rule in _RULES}


@dataclass(frozen=True)
class Direction:
    """Result of reading messages that the other side wrote."""

    breaks: str | None
    """None if provably compatible; otherwise ``fails``, ``reads differently``, ``rewrites differently``, or
    ``differs`` if no witness was found.
    """
    witness: Witness | None = None
    path: str = ""
    """Field path of the first difference for this reader; ``what`` describes it."""
    what: str = ""


@dataclass(frozen=True)
class CompatFinding:
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
    """New state: a digest or a short value. A waiver applies only if ``before`` and ``after`` match."""
    since: str = ""
    reason: str = ""
    """A key of ``compare.REASONS`` if the layout changed, otherwise empty."""
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
