"""Tag rules: a field keeps its tag, and no other field may ever reuse it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kafka_message_generator.compat.compare import difference
from kafka_message_generator.compat.definition_sets import Baseline, DefinitionSet
from kafka_message_generator.compat.findings import CompatFinding
from kafka_message_generator.compat.renames import path_now, renames
from kafka_message_generator.compat.signatures import Tags, signature_of, tag_signatures
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import Field


@dataclass(frozen=True)
class Use:
    """A tagged field as defined in ``release``, the last release that has it."""

    field: Field
    path: str
    """Path of the field with the current names of its parents."""
    place: str
    """Path of the field in ``release``."""
    plan: MessagePlan
    release: str
    is_retired: bool = False
    """True if a later release has the message but not the tag."""

    def stays_in(self, other: Use) -> bool:
        """Return whether ``other``, a later use of the tag, is by the same field, possibly renamed."""
        if self.field.name == other.field.name:
            return not self.is_retired or self._is_same_value(other)
        return not self.is_retired and self._is_same_value(other, in_one_version=True)

    def _is_same_value(self, other: Use, in_one_version: bool = False) -> bool:
        return any(
            version == later or not in_one_version
            for version, one in self._values().items()
            for later, two in other._values().items()
            if difference((one,), (two,)) is None and difference((two,), (one,)) is None
        )

    def _values(self) -> dict[int, Tags]:
        found: dict[int, Tags] = {}
        for version in self.plan.valid:
            for each in tag_signatures(signature_of(self.plan, version)):
                if each.label == self.place:
                    found[version] = Tags("", "", (each,))
        return found


_Key = tuple[str, bool, int]
"""Path of the struct, whether the tag is in an optional-field buffer (docs/protocol/optional-fields.md), and the tag."""


def tag_findings(old: Baseline, new: DefinitionSet) -> Iterator[CompatFinding]:
    """Yield tags that were reused for another field, and fields whose tag changed."""
    for name in sorted(new.plans):
        yield from _of_message(
            name, [definition_set for definition_set in old.sets if name in definition_set.plans], new
        )


def _of_message(name: str, sets: list[DefinitionSet], new: DefinitionSet) -> Iterator[CompatFinding]:
    used: dict[_Key, Use] = {}
    for before, definition_set in zip([None, *sets], sets, strict=False):
        now = dict(_uses(name, definition_set))
        known = _followed(name, used, before, definition_set)
        used = {key: use if key in now else replace(use, is_retired=True) for key, use in known.items()} | now
    used = _followed(name, used, sets[-1] if sets else None, new)
    tags = {use.path: use for use in used.values()}
    for key, use in _uses(name, new):
        tag, former, same = key[2], used.get(key), tags.get(use.path)
        if former is not None and not former.stays_in(use):
            what = f"tag {tag} was {former.field.name} ({former.field.type}), now {use.field.name} ({use.field.type})"
            remedy = f"give {use.field.name} a tag that was never used"
            yield _finding("TAG_REUSED", name, use, what, remedy, former.field.name, use.field.name, former.release)
        if same is not None and same.field.tag != tag and same.field.is_optional == use.field.is_optional:
            what = f"{use.path} had tag {same.field.tag}, has {tag}"
            remedy = f"restore tag {same.field.tag}"
            yield _finding("TAG_MOVED", name, use, what, remedy, str(same.field.tag), str(tag), same.release)


def _followed(name: str, used: dict[_Key, Use], before: DefinitionSet | None, after: DefinitionSet) -> dict[_Key, Use]:
    moves = renames(name, before, after) if before is not None and used else {}
    return {
        (path_now(struct, moves), is_optional, tag): replace(use, path=path_now(use.path, moves))
        for (struct, is_optional, tag), use in used.items()
    }


def _uses(name: str, definition_set: DefinitionSet) -> Iterator[tuple[_Key, Use]]:
    for path, member in definition_set.members(name):
        if member.tag is not None:
            struct = path.rpartition(".")[0]
            yield (struct, member.is_optional, member.tag), Use(
                member, path, path, definition_set.plans[name], definition_set.name
            )


def _finding(
    rule: str, message: str, use: Use, what: str, remedy: str, before: str, after: str, since: str
) -> CompatFinding:
    return CompatFinding(rule, message, use.path, (), what, remedy, use.field.at("tag"), before, after, since)
