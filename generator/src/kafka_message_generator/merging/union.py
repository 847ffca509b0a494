"""Union of two definitions of one message: the newer one, plus the versions that only the older one has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kafka_message_generator.spec.model import Field, Message, Struct
from kafka_message_generator.spec.versions import MAX_VERSION, NONE, Versions


class MergeError(Exception):
    """Raised for two definitions that no single definition can represent."""


@dataclass
class _StructFields:
    """The fields of each struct, by the struct's name."""

    structs: dict[str, list[Field]] = field(default_factory=dict)
    common: dict[str, Struct] = field(default_factory=dict)

    @classmethod
    def of(cls, message: Message) -> _StructFields:
        table = cls()
        for struct in message.common_structs:
            table.common[struct.name] = struct
            table.structs[struct.name] = list(struct.fields)
        for member in message.all_fields():
            if member.fields:
                table.structs[member.type.name] = list(member.fields)
        table.structs[""] = list(message.fields)
        return table


def union(newer: Message, older: Message, moved: Mapping[str, str]) -> Message:
    """Return the newer definition with the additional versions of the older one. Raises MergeError.

    ``moved`` maps old paths of renamed fields to new ones. The caller must compare the layouts.
    """
    if newer.is_removed:
        return replace(older, api_key=newer.api_key, location=newer.location, about=newer.about or older.about)
    valid = newer.valid
    for extra in _extra(newer.valid, older.valid):
        merger = _Merger(valid, extra, _StructFields.of(newer), _StructFields.of(older), moved)
        merger.struct("", "", "")
        valid = joined(valid, extra, f"versions of {newer.name}")
        newer = replace(
            newer,
            valid=valid,
            flexible=merger.versions(newer.flexible, older.flexible, "flexibleVersions"),
            fields=tuple(merger.nested(member) for member in merger.mine.structs[""]),
            common_structs=merger.common_structs(),
        )
    return newer


def _extra(mine: Versions, theirs: Versions) -> list[Versions]:
    below = theirs.intersect(Versions(0, mine.lowest - 1)) if mine.lowest else NONE
    above = theirs.intersect(Versions(mine.highest + 1, MAX_VERSION)) if mine.highest < MAX_VERSION else NONE
    return [each for each in (below, above) if not each.empty]


def joined(one: Versions, two: Versions, what: str) -> Versions:
    """Return the range that covers both. Raises MergeError if there is a gap between them."""
    if one.empty or two.empty:
        return two if one.empty else one
    low, high = sorted((one, two))
    if high.lowest > low.highest + 1:
        raise MergeError(f"{what} would be {low} and {high}, which is not a single range")
    return Versions(low.lowest, max(low.highest, high.highest))


@dataclass
class _Merger:
    valid: Versions
    extra: Versions
    mine: _StructFields
    theirs: _StructFields
    moved: Mapping[str, str]

    def struct(self, name: str, other: str, path: str) -> None:
        result = self.mine.structs[name] = list(self.mine.structs[name])
        at = 0
        for theirs in self.theirs.structs[other]:
            former = f"{path}.{theirs.name}" if path else theirs.name
            own = self.moved.get(former, former).rpartition(".")[2]
            place = next((index for index, mine in enumerate(result) if mine.name == own), None)
            if self.part(theirs).empty:
                if place is not None:
                    result[place] = replace(result[place], ignorable=self.ignorable(result[place], theirs))
                continue
            if place is None:
                result.insert(at, self.adopted(theirs, former))
                at += 1
                continue
            if place < at and theirs.tag is None:
                raise MergeError(f"{former} precedes another field in one release and follows it in the other")
            at = max(at, place + 1)
            result[place] = self.both(result[place], theirs, former)
        outside = [index for index, mine in enumerate(result) if mine.name not in self._names(other)]
        for index in outside:
            result[index] = self.without(result[index])

    def _names(self, other: str) -> set[str]:
        return {theirs.name for theirs in self.theirs.structs[other]} | {
            path.rpartition(".")[2] for path in self.moved.values()
        }

    def part(self, member: Field) -> Versions:
        return member.versions.intersect(self.extra)

    def without(self, mine: Field) -> Field:
        return replace(
            mine, versions=self.own(mine.versions), tagged=self.own(mine.tagged), nullable=self.own(mine.nullable)
        )

    def own(self, versions: Versions) -> Versions:
        return versions.intersect(Versions(self.valid.lowest, MAX_VERSION) if self.extra < self.valid else self.valid)

    def versions(self, mine: Versions, theirs: Versions, what: str) -> Versions:
        other = theirs.intersect(self.extra)
        own = self.own(mine)
        if self.extra > self.valid and theirs.open_ended and not own.empty:
            other = Versions(other.lowest, MAX_VERSION) if not other.empty else other
        return joined(own, other, what)

    def ignorable(self, mine: Field, theirs: Field) -> bool:
        return theirs.ignorable if mine.versions.covers(self.valid) else mine.ignorable

    def both(self, mine: Field, theirs: Field, path: str) -> Field:
        if mine.type.is_array != theirs.type.is_array or mine.type.is_struct != theirs.type.is_struct:
            raise MergeError(f"{path} is {theirs.type} in one release and {mine.type} in the other")
        if mine.type.is_struct:
            self.struct(mine.type.name, theirs.type.name, f"{path}[]" if theirs.type.is_array else path)
        elif mine.type != theirs.type:
            raise MergeError(f"{path} is {theirs.type} in one release and {mine.type} in the other")
        tagged = self.versions(mine.tagged, theirs.tagged, f"taggedVersions of {path}")
        return replace(
            mine,
            versions=self.versions(mine.versions, theirs.versions, f"versions of {path}"),
            nullable=self.versions(mine.nullable, theirs.nullable, f"nullableVersions of {path}"),
            tagged=tagged,
            ignorable=self.ignorable(mine, theirs),
            tag=theirs.tag if mine.tag is None else mine.tag,
        )

    def adopted(self, theirs: Field, path: str) -> Field:
        if theirs.type.is_struct and theirs.type.name not in self.mine.structs:
            name = theirs.type.name
            self.mine.structs[name] = []
            if name in self.theirs.common:
                self.mine.common[name] = self.theirs.common[name]
            inner = f"{path}[]" if theirs.type.is_array else path
            self.mine.structs[name] = [
                self.adopted(member, f"{inner}.{member.name}")
                for member in self.theirs.structs[name]
                if not self.part(member).empty
            ]
        elif theirs.type.is_struct:
            self.struct(theirs.type.name, theirs.type.name, path)
        return replace(
            theirs,
            versions=theirs.versions.intersect(self.extra),
            nullable=theirs.nullable.intersect(self.extra),
            tagged=theirs.tagged.intersect(self.extra),
        )

    def nested(self, member: Field) -> Field:
        name = member.type.name
        if not member.type.is_struct or name in self.mine.common or (name not in self.mine.structs):
            return member
        if not member.fields:
            return member
        return replace(member, fields=tuple(self.nested(inner) for inner in self.mine.structs[name]))

    def common_structs(self) -> tuple[Struct, ...]:
        return tuple(
            replace(
                struct,
                versions=joined(struct.versions, self.extra, f"versions of {struct.name}"),
                fields=tuple(self.nested(member) for member in self.mine.structs[name]),
            )
            for name, struct in self.mine.common.items()
        )
