"""Tags against everything that was ever released: a tag stands for one field, for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_message_generator.evolution.findings import Finding
from kafka_message_generator.history.sides import Baseline, Side
from kafka_message_generator.spec.model import Field
from kafka_message_generator.spec.versions import Versions


@dataclass(frozen=True)
class Use:
    """A tag of a struct: the field it stands for, and where."""

    field: Field
    path: str
    release: str

    @property
    def versions(self) -> Versions:
        return self.field.versions if self.field.is_optional else self.field.tagged

    def is_same_value(self, other: Use) -> bool:
        """Whether bytes of one are bytes of the other: some version has both, and they are of one type and default."""
        mine, theirs = self.field, other.field
        in_common = not self.versions.intersect(other.versions).empty
        return in_common and (str(mine.type), mine.default) == (str(theirs.type), theirs.default)


_Key = tuple[str, str, bool, int]
"""Message, path of the struct, whether the tag is of an optional-field buffer, and the tag."""


def tag_findings(old: Baseline, new: Side) -> Iterator[Finding]:
    """Tags that stand for another field, and fields with another tag, than in any release."""
    used: dict[_Key, Use] = {}
    tags: dict[tuple[str, str], Use] = {}
    for side in old.sides:
        for key, use in _uses(side):
            used[key] = use
            tags[key[0], use.path] = use
    for key, use in _uses(new):
        message, _, _, tag = key
        before = used.get(key)
        if before is not None and before.field.name != use.field.name and not before.is_same_value(use):
            what = f"tag {tag} was {before.field.name} ({before.field.type}), is {use.field.name} ({use.field.type})"
            remedy = f"give {use.field.name} a tag that was never used"
            yield _finding("TAG_REUSED", message, use, what, remedy, before.field.name, use.field.name, before.release)
        known = tags.get((message, use.path))
        if known is not None and known.field.tag != tag and known.field.is_optional == use.field.is_optional:
            what = f"{use.path} had tag {known.field.tag}, has {tag}"
            remedy = f"give it back tag {known.field.tag}"
            yield _finding("TAG_MOVED", message, use, what, remedy, str(known.field.tag), str(tag), known.release)


def _uses(side: Side) -> Iterator[tuple[_Key, Use]]:
    for name in sorted(side.plans):
        for path, member in side.members(name):
            if member.tag is not None:
                struct = path.rpartition(".")[0]
                yield (name, struct, member.is_optional, member.tag), Use(member, path, side.name)


def _finding(rule: str, message: str, use: Use, what: str, remedy: str, before: str, after: str, since: str) -> Finding:
    return Finding(rule, message, use.path, (), what, remedy, use.field.at("tag"), before, after, since)
