"""Rules for structs: which names exist, tags of one body, versions that must meet."""

from __future__ import annotations

from generator.spec.model import Field, Message, Struct
from generator.spec.source import Location, Problems
from generator.spec.versions import Versions

StructTable = dict[str, Struct]
"""Every struct of a message by name, inline and common."""


def resolve(message: Message, problems: Problems) -> StructTable:
    """Find the struct behind every struct type of a message, and report what does not resolve."""
    table: StructTable = {}
    for struct in message.common_structs:
        if struct.name in table:
            problems.error(struct.location, f"common struct {struct.name} is specified twice; remove one")
        table[struct.name] = struct
    _register_inline(message.fields + message.optional_fields, table, problems)
    for struct in message.common_structs:
        _refuse_inline(struct, table, problems)
    _check_references(message, table, problems)
    if not problems.errors:
        _check_recursion(message, table, problems)
    return table


def _register_inline(fields: tuple[Field, ...], table: StructTable, problems: Problems) -> None:
    for member in fields:
        if not member.type.is_struct:
            continue
        name, known = member.type.name, table.get(member.type.name)
        if known is not None and known.is_common:
            if member.fields:
                problems.error(member.at("fields"), f"{name} is a common struct; its fields cannot be given again here")
            if member.optional_fields:
                what = f"{name} is a common struct; its optional fields cannot be given here"
                problems.error(member.at("optionalFields"), f"{what}; give them where it is declared")
        elif known is not None:
            advice = "a struct used twice must be a common struct"
            problems.error(member.at("type"), f"struct {name} is specified twice; {advice}")
        elif "fields" in member.places or member.optional_fields:
            table[name] = _inline(member)
            _register_inline(member.fields + member.optional_fields, table, problems)
        else:
            problems.error(member.at("type"), f"unknown struct {name}; give its fields here or as a common struct")


def _inline(member: Field) -> Struct:
    return Struct(
        member.type.name,
        member.versions,
        member.fields,
        member.location,
        member.about,
        optional_fields=member.optional_fields,
    )


def _refuse_inline(struct: Struct, table: StructTable, problems: Problems) -> None:
    for member in struct.members:
        if not member.type.is_struct:
            continue
        given = "fields" if member.fields else "optionalFields" if member.optional_fields else None
        if given is not None:
            what = f"struct {member.type.name} is written inside common struct {struct.name}"
            problems.error(member.at(given), f"{what}; declare it as a common struct of its own")
        elif member.type.name not in table:
            problems.error(member.at("type"), f"unknown struct {member.type.name}; declare it as a common struct")


def _check_references(message: Message, table: StructTable, problems: Problems) -> None:
    used = {member.type.name for member in message.walk() if member.type.is_struct}
    for name, struct in table.items():
        if name in (message.name, message.name + "Data"):
            problems.error(struct.location, f"struct {name} has the name of its message; rename it")
        if struct.is_common and name not in used:
            problems.warn(struct.location, f"common struct {name} is never used")
        _check_tags(name, struct, problems)
    _check_tags(message.name, message, problems)
    _check_versions(message.valid, message.fields + message.optional_fields, table, message, problems)
    for member in message.fields:
        if member.map_key:
            problems.error(member.at("mapKey"), f"field {member.name}: mapKey cannot be set on top level fields")


def _check_tags(owner: str, body: Struct | Message, problems: Problems) -> None:
    tagged = _unique_tags(owner, body.fields, problems)
    missing = sorted(set(range(len(tagged))) - set(tagged))
    if missing:
        highest = tagged[max(tagged)]
        what = f"in {owner}, the tags are not contiguous: {missing[0]} is not used but {highest.tag} is"
        problems.error(highest.at("tag"), f"{what}; use the lower tags first")
    _unique_tags(owner, body.optional_fields, problems)  # any int16 will do there, it is never a position


def _unique_tags(owner: str, fields: tuple[Field, ...], problems: Problems) -> dict[int, Field]:
    tagged: dict[int, Field] = {}
    for member in fields:
        if member.tag is None:
            continue
        earlier = tagged.setdefault(member.tag, member)
        if earlier is not member:
            what = (
                f"in {owner}, field {member.name} has a duplicate tag {member.tag}, already the tag of {earlier.name}"
            )
            problems.error(member.at("tag"), f"{what}; tags must be unique")
    return tagged


def _check_versions(
    parent: Versions, fields: tuple[Field, ...], table: StructTable, message: Message, problems: Problems
) -> None:
    """A struct field that can never be present is a slip; a plain field only a warning (see fields)."""
    for member in fields:
        if not member.type.is_struct:
            continue
        present = parent.intersect(member.versions)
        is_reported = member.is_optional and member.versions.empty  # the message has no versionsWithOptional
        if present.empty and not message.is_removed and not parent.empty and not is_reported:
            what = f"field {member.name} has versions {member.versions}, none of them in its parent's {parent}"
            problems.error(member.at("versions"), what)
        struct = table.get(member.type.name)
        if struct is not None and not struct.is_common:
            _check_versions(present, member.fields + member.optional_fields, table, message, problems)


def _check_recursion(message: Message, table: StructTable, problems: Problems) -> None:
    finished: set[str] = set()

    def visit(name: str, path: tuple[str, ...], location: Location) -> None:
        if name in path:
            circle = " -> ".join((*path[path.index(name) :], name))
            problems.error(location, f"struct {name} contains itself ({circle}); a message needs a fixed depth")
        elif name not in finished:
            for member in table[name].members:
                if member.type.is_struct:
                    visit(member.type.name, (*path, name), member.at("type"))
            finished.add(name)

    for name, struct in table.items():
        visit(name, (), struct.location)
