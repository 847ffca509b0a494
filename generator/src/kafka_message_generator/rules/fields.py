"""Rules for a single field, in the order of Kafka's own generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_message_generator.rules import defaults
from kafka_message_generator.spec.annotations import ENTITY_TYPES as ENTITY_TYPES_FILE
from kafka_message_generator.spec.model import ENTITY_TYPES, Field, Message
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.suggestions import did_you_mean

Rule = Callable[[Message, Field, Problems], None]


def nullable_type(message: Message, member: Field, problems: Problems) -> None:
    if not member.nullable.empty and not member.type.can_be_null:
        key = "nullable" if member.is_optional else "nullableVersions"
        problems.error(member.at(key), f"type {member.type} cannot be nullable; remove {key}")


def nullable_inside_versions(message: Message, member: Field, problems: Problems) -> None:
    # Released definitions sometimes have surplus nullable versions.
    if member.type.can_be_null and not member.versions.covers(member.nullable):
        what = f"field {member.name} has nullableVersions {member.nullable}, but versions {member.versions}"
        problems.warn(member.at("nullableVersions"), f"{what}; the other versions are ignored")


def entity_type(message: Message, member: Field, problems: Problems) -> None:
    _entity_type(member, ENTITY_TYPES.get(member.entity_type), problems)


def _entity_type(member: Field, expected: str | None, problems: Problems) -> None:
    if expected is not None and member.type.name != expected:
        what = (
            f"field {member.name} has entityType {member.entity_type}, which needs {expected}, but type {member.type}"
        )
        problems.error(member.at("entityType"), f"{what}; change one of the two")


def fields_of_structs_only(message: Message, member: Field, problems: Problems) -> None:
    if member.fields and not member.type.is_struct:
        problems.error(member.at("fields"), f"field {member.name} of type {member.type} cannot have fields")


def element_type(message: Message, member: Field, problems: Problems) -> None:
    if member.type.is_array and member.type.name == "records":
        problems.error(
            member.at("type"), f"field {member.name}: an array cannot contain records; use []bytes or a struct"
        )


def flexible_override(message: Message, member: Field, problems: Problems) -> None:
    if member.flexible is None:
        return
    if member.type.is_array or member.type.name not in ("string", "bytes"):
        what = f"field {member.name} of type {member.type} cannot override flexibleVersions"
        problems.error(member.at("flexibleVersions"), f"{what}; only string and bytes can")
    elif not message.flexible.covers(member.flexible):
        what = f"field {member.name} has flexibleVersions {member.flexible}"
        problems.error(
            member.at("flexibleVersions"),
            f"{what}, which are not all among the message's flexible versions {message.flexible}",
        )


def map_key(message: Message, member: Field, problems: Problems) -> None:
    if not member.map_key:
        return
    if member.tag is not None:
        problems.error(member.at("mapKey"), f"field {member.name} is tagged, and tagged fields cannot be keys")
    if member.type.is_array or member.type.is_struct:
        problems.error(
            member.at("mapKey"), f"field {member.name} of type {member.type} cannot be a key; use a primitive"
        )
    elif member.type.name == "float64":
        problems.warn(member.at("mapKey"), f"field {member.name} is a float64 key; NaN cannot be found")


def tag_sign(message: Message, member: Field, problems: Problems) -> None:
    if member.tag is not None and member.tag < 0:
        problems.error(member.at("tag"), f"field {member.name} has tag {member.tag}; tags cannot be negative")


def tag_and_tagged_versions(message: Message, member: Field, problems: Problems) -> None:
    if member.is_optional:
        return
    if member.tag is not None and member.tagged.empty:
        what = f"field {member.name} has tag {member.tag}, but no taggedVersions; add them or remove the tag"
        problems.error(member.at("tag"), what)
    elif member.tag is None and not member.tagged.empty:
        what = (
            f"field {member.name} has taggedVersions {member.tagged}, but no tag; add one or remove the taggedVersions"
        )
        problems.error(member.at("taggedVersions"), what)


def tagged_versions(message: Message, member: Field, problems: Problems) -> None:
    if member.tagged.empty:
        return
    place = member.at("taggedVersions")
    nullable = member.nullable.intersect(member.tagged)
    if not nullable.empty and nullable != member.tagged:
        what = f"field {member.name} has nullableVersions {member.nullable} and taggedVersions {member.tagged}"
        problems.error(place, f"{what}; either all tagged versions must be nullable, or none")
    if not member.tagged.open_ended:
        problems.error(
            place, f"field {member.name} has taggedVersions {member.tagged}; they must be open-ended, like 2+"
        )


def tagged_inside_versions(message: Message, member: Field, problems: Problems) -> None:
    if not member.versions.covers(member.tagged):
        what = f"field {member.name} has taggedVersions {member.tagged} outside its versions {member.versions}"
        problems.error(member.at("taggedVersions"), f"{what}; widen the versions")


def tagged_inside_flexible(message: Message, member: Field, problems: Problems) -> None:
    flexible = message.flexible_at(member)
    is_known = not problems.has_error_at(message.at("flexibleVersions"))
    if is_known and not flexible.covers(member.tagged.intersect(message.valid)):
        what = f"field {member.name} has taggedVersions {member.tagged}, but flexible versions {flexible}"
        problems.error(member.at("taggedVersions"), f"{what}; only flexible versions have tagged fields")


def tagged_type(message: Message, member: Field, problems: Problems) -> None:
    is_tagged = member.tag is not None and not member.is_optional
    if is_tagged and member.type.name == "records" and not member.type.is_array:
        problems.error(member.at("tag"), f"field {member.name} is of type records, which cannot be tagged; use bytes")


def zero_copy(message: Message, member: Field, problems: Problems) -> None:
    if member.zero_copy and (member.type.is_array or member.type.name != "bytes"):
        problems.error(
            member.at("zeroCopy"), f"field {member.name} of type {member.type} cannot be zeroCopy; only bytes can"
        )


def default(message: Message, member: Field, problems: Problems) -> None:
    if member.default != "null" or not problems.has_error_at(member.places.get("nullableVersions")):
        defaults.check(member, problems)


def versions_inside_message(message: Message, member: Field, problems: Problems) -> None:
    if not message.is_removed and member.versions.intersect(message.valid).empty and not member.versions.empty:
        what = f"field {member.name} has versions {member.versions}, but the message has versions {message.valid}"
        problems.warn(member.at("versions"), f"{what}; the field is never sent")


def versions_of_properties(message: Message, member: Field, problems: Problems) -> None:
    if message.is_removed or member.versions.intersect(message.valid).empty:
        return
    for key, versions in (
        ("taggedVersions", member.tagged),
        ("nullableVersions", member.nullable),
        ("flexibleVersions", member.flexible),
    ):
        if versions is not None and versions.lowest > message.valid.highest:
            what = f"field {member.name} has {key} {versions}, but the message has versions {message.valid}"
            problems.warn(member.at(key), f"{what}; they have no effect yet")


RULES: dict[Rule, tuple[str, ...]] = {
    nullable_type: (),
    nullable_inside_versions: ("versions",),
    entity_type: (),
    fields_of_structs_only: (),
    element_type: (),
    flexible_override: ("flexibleVersions",),
    map_key: (),
    tag_sign: (),
    tag_and_tagged_versions: ("tag", "taggedVersions"),
    tagged_versions: (),
    tagged_inside_versions: ("versions",),
    tagged_inside_flexible: ("flexibleVersions",),
    tagged_type: (),
    zero_copy: (),
    default: (),
    versions_inside_message: (),
    versions_of_properties: (),
}
# Each rule with the properties it depends on; a rule is skipped if one of its properties has an error.


def check_entity_types(message: Message, more: Mapping[str, str], problems: Problems) -> None:
    for member in message.all_fields():
        name = member.entity_type
        if name not in ENTITY_TYPES and name not in more:
            advice = f"use one of {', '.join([*ENTITY_TYPES, *more])}, or add it to {ENTITY_TYPES_FILE}"
            what = f"unknown entityType {name!r}; {did_you_mean(name, [*ENTITY_TYPES, *more], advice)}"
            problems.error(member.at("entityType"), what)
        _entity_type(member, more.get(name), problems)


def check(message: Message, problems: Problems) -> None:
    for member in message.all_fields():
        for rule, keys in RULES.items():
            if not any(problems.has_error_at(member.at(key)) for key in keys):
                rule(message, member, problems)
