"""Rules for structs: names, tags, nesting, and versions of fields within the versions of the struct."""

from __future__ import annotations

from kafka_message_generator.spec.model import PRIMITIVES, Field, Message, Struct
from kafka_message_generator.spec.source import Location, Problems
from kafka_message_generator.spec.suggestions import did_you_mean
from kafka_message_generator.spec.versions import Versions

_MAX_DEPTH = 50  # maximum nesting of structs; Kafka's definitions have five levels


StructTable = dict[str, Struct]  # common and inline structs of a message by name


def resolve(message: Message, problems: Problems) -> StructTable:
    """Collect the structs of a message; report invalid references, tags and nesting."""
    table: StructTable = {}
    before = len(problems.found)
    for struct in message.common_structs:
        if struct.name in table:
            problems.error(struct.location, f"common struct {struct.name} is specified twice; remove one")
        table[struct.name] = struct
    _register_inline(message.fields + message.optional_fields, table, problems)
    for struct in message.common_structs:
        _report_inline(struct, table, problems)
    _check_references(message, table, problems)
    if all(problem.is_warning for problem in problems.found[before:]):
        _check_recursion(message, table, problems)
    return table


def _register_inline(fields: tuple[Field, ...], table: StructTable, problems: Problems) -> None:
    for member in fields:
        if not member.type.is_struct:
            continue
        name, known = member.type.name, table.get(member.type.name)
        if known is not None and known.is_common:
            if member.fields:
                problems.error(member.at("fields"), f"{name} is a common struct; its fields cannot be repeated here")
            if member.optional_fields:
                what = f"{name} is a common struct; optional fields cannot be declared here"
                problems.error(member.at("optionalFields"), f"{what}; declare them in the common struct")
        elif known is not None:
            advice = "a struct used twice must be a common struct"
            problems.error(member.at("type"), f"struct {name} is specified twice; {advice}")
        elif "fields" in member.places or member.optional_fields:
            table[name] = _inline(member)
            _register_inline(member.fields + member.optional_fields, table, problems)
        else:
            advice = did_you_mean(name, (*PRIMITIVES, *table), "declare its fields here or in commonStructs")
            problems.error(member.at("type"), f"unknown struct {name}; {advice}")


def _inline(member: Field) -> Struct:
    return Struct(
        member.type.name,
        member.versions,
        member.fields,
        member.location,
        member.about,
        optional_fields=member.optional_fields,
    )


def _report_inline(struct: Struct, table: StructTable, problems: Problems) -> None:
    for member in struct.members:
        if not member.type.is_struct:
            continue
        given = "fields" if member.fields else "optionalFields" if member.optional_fields else None
        if given is not None:
            what = f"struct {member.type.name} is declared inside common struct {struct.name}"
            problems.error(member.at(given), f"{what}; declare it as a separate common struct")
        elif member.type.name not in table:
            advice = did_you_mean(member.type.name, (*PRIMITIVES, *table), "declare it as a common struct")
            problems.error(member.at("type"), f"unknown struct {member.type.name}; {advice}")


def _check_references(message: Message, table: StructTable, problems: Problems) -> None:
    used = {member.type.name for member in message.all_fields() if member.type.is_struct}
    for name, struct in table.items():
        if name in (message.name, message.name + "Data"):
            problems.error(struct.location, f"struct {name} has a name that is reserved for its message; rename it")
        if struct.is_common and name not in used:
            problems.warn(struct.location, f"common struct {name} is never used")
        _check_tags(name, struct, problems)
    _check_tags(message.name, message, problems)
    _check_keys(message, table, used, problems)
    if not message.is_removed:
        _check_presence(message, table, problems)


def _check_keys(message: Message, table: StructTable, used: set[str], problems: Problems) -> None:
    for member in message.fields:
        if member.map_key:
            problems.error(member.at("mapKey"), f"field {member.name} of the message cannot be a key; remove mapKey")
    arrays = {member.type.name for member in message.all_fields() if member.type.is_array}
    for name in sorted(used & table.keys() - arrays):
        for member in table[name].fields:
            if member.map_key:
                what = f"field {member.name} is a key, but struct {name} is not in an array"
                problems.warn(member.at("mapKey"), f"{what}; the key has no effect")


def _check_tags(owner: str, body: Struct | Message, problems: Problems) -> None:
    tagged = _unique_tags(owner, body.fields, problems)
    _unique_tags(owner, body.optional_fields, problems)  # tags of optional fields need not be contiguous
    if any(problems.has_error_at(member.places.get("tag")) for member in body.fields):
        return  # an invalid tag is already reported
    missing = sorted(set(range(len(tagged))) - set(tagged))
    if missing:
        highest = tagged[max(tagged)]
        what = f"in {owner}, the tags are not contiguous: {missing[0]} is unused, but {highest.tag} is used"
        problems.error(highest.at("tag"), f"{what}; use the lower tags first")


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


def _check_recursion(message: Message, table: StructTable, problems: Problems) -> None:
    depths: dict[str, int] = {}

    def visit(name: str, path: tuple[str, ...], location: Location) -> int:
        if name in path:
            circle = " -> ".join((*path[path.index(name) :], name))
            problems.error(location, f"struct {name} contains itself ({circle}); a message needs a fixed depth")
            return 0
        if name not in depths and len(path) <= _MAX_DEPTH:
            inside = [member for member in table[name].members if member.type.is_struct]
            depths[name] = 1 + max((visit(m.type.name, (*path, name), m.at("type")) for m in inside), default=0)
        return depths.get(name, 0)

    for name, struct in table.items():
        if visit(name, (), struct.location) > _MAX_DEPTH:
            problems.error(
                struct.location, f"struct {name} contains structs more than {_MAX_DEPTH} levels deep; flatten it"
            )
            return


def _check_presence(message: Message, table: StructTable, problems: Problems) -> None:
    present = _versions_by_struct(message, table)
    _check_body("the message", message.fields + message.optional_fields, present[message.name], message, problems)
    for name, struct in table.items():
        _check_body(f"struct {name}", struct.members, present.get(name, set()), message, problems)


def _versions_by_struct(message: Message, table: StructTable) -> dict[str, set[int]]:
    present = {message.name: set(message.valid)}
    waiting: list[tuple[str, tuple[Field, ...]]] = [(message.name, message.fields + message.optional_fields)]
    while waiting:
        owner, members = waiting.pop()
        for member in members:
            if member.type.name not in table:
                continue
            known = present.setdefault(member.type.name, set())
            more = {version for version in present[owner] if version in member.versions} - known
            if more:
                known |= more
                waiting.append((member.type.name, table[member.type.name].members))
    return present


def _check_body(
    owner: str, members: tuple[Field, ...], present: set[int], message: Message, problems: Problems
) -> None:
    if not present:
        return  # no version uses the struct, which other rules report
    versions = Versions(min(present), max(present))
    for member in members:
        if any(version in member.versions for version in present) or problems.has_error_at(member.at("versions")):
            continue
        if member.type.is_struct:
            is_reported = member.is_optional and member.versions.empty  # the message has no versionsWithOptional
            if not is_reported:
                what = f"field {member.name} has versions {member.versions}, but its parent has versions {versions}"
                problems.error(member.at("versions"), what)
        elif not member.versions.intersect(message.valid).empty:  # otherwise reported with the field
            what = f"field {member.name} has versions {member.versions}, but {owner} has versions {versions}"
            problems.warn(member.at("versions"), f"{what}; the field is never sent")
