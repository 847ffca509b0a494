"""Changes of one message between two sets of definitions: new and removed versions, their fields, topic ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_message_generator.compat.availability import names_of
from kafka_message_generator.compat.compare import REASONS, added_tags, difference
from kafka_message_generator.compat.definition_sets import DefinitionSet
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.compat.wire import header_of
from kafka_message_generator.compat.witness import Witness, witness
from kafka_message_generator.rules.headers import REQUEST_HEADER, RESPONSE_HEADER
from kafka_message_generator.spec.model import COORDINATOR_KEY, HEADER, REQUEST, RESPONSE, Field

EXCHANGED = (REQUEST, RESPONSE, HEADER)
"""Kinds of messages that clients, proxies and brokers exchange; the others are records and other data in logs."""
TOPIC_NAMES = ("topic", "topicname", "name")
"""Lower-case names of fields with a topic name, in definitions without the entity type."""


@dataclass(frozen=True)
class MessageStep:
    """A message of the new definitions and its versions in the old ones, possibly under another name."""

    name: str
    former: str | None
    """Name in the old definitions; None if they lack the message."""
    old: DefinitionSet
    new: DefinitionSet

    @property
    def is_exchanged(self) -> bool:
        """True for requests, responses and headers; False for records and other data in logs."""
        return self.new.messages[self.name].kind in EXCHANGED

    @property
    def has_new_numbering(self) -> bool:
        """True for an unchanged record key whose version was its record type, as in all releases up to Kafka 4.0."""
        if self.former is None or self.new.messages[self.name].kind != COORDINATOR_KEY:
            return False
        before, now = self.old.plans.get(self.former), self.new.plans[self.name]
        if before is None or self.old.messages[self.former].kind == COORDINATOR_KEY:
            return False
        return signature_of(before, before.valid.highest) == signature_of(now, now.valid.highest)

    @property
    def known(self) -> tuple[int, ...]:
        """Versions of the old definitions."""
        return (
            () if self.former is None or self.former not in self.old.plans else tuple(self.old.plans[self.former].valid)
        )

    @property
    def released(self) -> tuple[int, ...]:
        """Stable versions of the old definitions."""
        return () if self.former is None else tuple(v for v in self.known if v != self.old.unstable(self.former))

    @property
    def brought(self) -> tuple[int, ...]:
        """Versions that the old definitions lack, or had as unstable."""
        unstable = self.new.unstable(self.name)
        was = self.old.unstable(self.former) if self.former is not None else None
        valid = self.new.plans[self.name].valid if self.name in self.new.plans else ()
        return tuple(v for v in valid if v not in self.released and not v == unstable == was)

    @property
    def dropped(self) -> tuple[int, ...]:
        valid = self.new.messages[self.name].valid
        return tuple(version for version in self.known if version not in valid)

    @property
    def dropped_note(self) -> str:
        """Note about a removed version that was unstable, else an empty text."""
        notes = (self.stability(version) for version in self.dropped)
        return next((f" ({note})" for note in notes if note), "")

    def stability(self, version: int) -> str:
        """Return a note about a version that is or was unstable, else an empty text."""
        if version == self.new.unstable(self.name):
            return "unstable: brokers offer it only if configured"
        was = None if self.former is None else self.old.unstable(self.former)
        if was is None or (version != was and self.released):
            return ""
        return f"{'' if version == was else f'version {was} was '}unstable in {self.old.name}"

    def _was_unstable(self, version: int) -> bool:
        return self.former is not None and version == self.old.unstable(self.former)

    def reads_unstable(self, version: int) -> bool:
        """Return whether the old definitions have a version as unstable, and read the bytes of the new ones."""
        return self._was_unstable(version) and self.witness(version) == (version, None)

    def changes(self, version: int) -> str:
        """Return the fields of a new version, or what it changes against the version before it."""
        has = self._paths(version)
        if version - 1 not in self.new.plans[self.name].valid:
            return "fields: " + (", ".join(self._typed(_outermost(has))) or "none")
        before, now = (signature_of(self.new.plans[self.name], each) for each in (version - 1, version))
        had = self._paths(version - 1)
        parts = [f"adds {', '.join(self._typed(_outermost(has - had)))}"] if has - had else []
        parts += [f"lacks {', '.join(_outermost(had - has))}"] if had - has else []
        if not parts and before != now and (found := difference(before, now) or difference(now, before)):
            parts.append(f"{REASONS[found.reason]}: {found.path or 'the message'}")
        message = self.new.messages[self.name]
        if message.kind in (REQUEST, RESPONSE) and (header := header_of(message, version)) != header_of(
            message, version - 1
        ):
            parts.append(f"header version {header} instead of {header_of(message, version - 1)}")
        return "; ".join(parts) or f"layout of version {version - 1}"

    def _paths(self, version: int) -> frozenset[str]:
        found: set[str] = set()
        for path, member in self.new.members(self.name):
            holder = _holder(path)
            if version in member.versions and (not holder or holder in found):
                found.add(path)
        return frozenset(found)

    def _typed(self, paths: list[str]) -> Iterator[str]:
        members = dict(self.new.members(self.name))
        for path in paths:
            tag = f", tag {members[path].tag}" if members[path].tag is not None else ""
            yield f"{path} ({members[path].type}{tag})"

    def unknown_header(self, version: int) -> str | None:
        """Return the header version of a message version if the old definitions lack it, as text."""
        message = self.new.messages[self.name]
        header = self.old.messages.get({REQUEST: REQUEST_HEADER, RESPONSE: RESPONSE_HEADER}.get(message.kind, ""))
        if header is None or header_of(message, version) in header.valid:
            return None
        return f"its header has version {header_of(message, version)}, which {self.old.name} lacks"

    def topic_ids(self, version: int) -> str | None:
        """Return the topic ids that replace topic names in a version, as text; None if there are none."""
        found, members = [], dict(self.new.members(self.name))
        for path, member in members.items():
            if not (_is_topic_id(path, member) and version in member.versions and version - 1 not in member.versions):
                continue
            for other, name in members.items():
                is_beside = other.rpartition(".")[0] == path.rpartition(".")[0]
                if is_beside and _is_topic_name(name) and version - 1 in name.versions and version not in name.versions:
                    found.append(f"{path} instead of {other}")
        return f"topics by id: {', '.join(found)}" if found else None

    @property
    def new_tags(self) -> dict[tuple[str, ...], list[int]]:
        """Tagged fields that released versions gained, and these versions."""
        found: dict[tuple[str, ...], list[int]] = {}
        for version in self.released:
            if self.former is not None and version in self.new.messages[self.name].valid:
                before, now = self.old.plans[self.former], self.new.plans[self.name]
                more = added_tags(signature_of(before, version), signature_of(now, version))
                labels = tuple(f"{each.label} (tag {each.tag})" for each in more)
                found.setdefault(labels, []).append(version)
        return {labels: versions for labels, versions in found.items() if labels}

    def witness(self, version: int) -> tuple[int, Witness | None] | None:
        """Return the version of the old definitions nearest to a version of the new ones, and bytes that it misreads.

        The nearest is the same version, even an unstable one, else the newest stable one.
        """
        if not self.known or self.former is None or version not in self.new.plans[self.name].valid:
            return None
        known = version if version in self.known else max(self.released or self.known)
        return known, witness(self.new.plans[self.name], self.old.plans[self.former], version, known)


def steps(old: DefinitionSet, new: DefinitionSet) -> Iterator[MessageStep]:
    """Yield each message of the new definitions, sorted by name."""
    today = {name: (new.messages[name], plan) for name, plan in new.plans.items()}
    former = {now: was for was, now in names_of([old, new], today).items() if was in old.messages}
    former |= {name: name for name in old.messages.keys() & new.messages.keys()}
    yield from (MessageStep(name, former.get(name), old, new) for name in sorted(new.messages))


def _outermost(paths: frozenset[str]) -> list[str]:
    return sorted(path for path in paths if _holder(path) not in paths)


def _holder(path: str) -> str:
    return path.rpartition(".")[0].removesuffix("[]")


def _is_topic_id(path: str, member: Field) -> bool:
    return str(member.type) == "uuid" and path.lower().endswith("topicid")


def _is_topic_name(member: Field) -> bool:
    return member.entity_type == "topicName" or (str(member.type) == "string" and member.name.lower() in TOPIC_NAMES)
