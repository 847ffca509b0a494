"""Comparison of two wire signatures: proves them compatible or finds the first difference."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.compat.order import Order, Parts, displaced, parts, reordered
from kafka_message_generator.compat.signatures import (
    TOP,
    Above,
    CountPrefixed,
    FixedWidth,
    Inside,
    LengthPrefixed,
    Nullable,
    SignatureElement,
    TagElement,
    Tags,
    WireSignature,
    inside_of,
    insides,
)
from kafka_message_generator.spec.model import INTEGERS

REASONS = {
    "FIELD_ADDED": "a field was added",
    "FIELD_REMOVED": "a field was removed",
    "REPLACED": "a field was replaced by one with another name and type",
    "REORDERED": "fields are in another order, or one has the position or tag of another",
    "TYPE": "the type of a field changed",
    "WIDTH": "the size of an integer changed",
    "ENCODING": "the encoding of an integer changed",
    "NULLABLE": "the nullability of a field changed",
    "FLEXIBLE": "lengths are compact, or structs have tags, on one side only",
    "PRESENCE": "a struct has a presence byte on one side only",
    "SECTION": "the encoding of tagged fields changed",
    "TAG_REFUSED": "one side has a tagged field in a version in which the other side rejects its tag",
    "TAGGED_VALUE": "the encoding of a tagged field changed",
    "TAGGED_DEFAULT": "the implied value of an absent tagged field changed",
}


@dataclass(frozen=True)
class Difference:
    """The first difference between a writer's and a reader's layout. ``reason`` is one of ``REASONS``."""

    reason: str
    path: str
    wrote: str
    reads: str


def difference(writer: WireSignature, reader: WireSignature) -> Difference | None:
    """Return why ``reader`` may misread bytes of ``writer``, or None if it provably cannot.

    Null and tagged fields that only the reader allows are no difference. A tagged field that only the writer knows is
    a difference only if the reader has the tag in other versions: then it rejects the tag.
    """
    found = _ordered(reordered(writer, reader)) or _sequence(writer, reader)
    return found or _ordered(displaced(writer, reader))


def _ordered(found: Order | None) -> Difference | None:
    return None if found is None else Difference("REORDERED", found.path, found.wrote, found.reads)


def added_tags(old: WireSignature, new: WireSignature) -> list[TagElement]:
    found: list[TagElement] = []
    for before, after in zip(old, new, strict=False):
        if isinstance(before, Tags) and isinstance(after, Tags):
            known = {each.tag for each in before.fields}
            found += [each for each in after.fields if each.tag not in known]
    for one, two in insides(old, new):
        found += added_tags(one.signature, two.signature)
    return found


def _sequence(writer: WireSignature, reader: WireSignature, above: Above = TOP) -> Difference | None:
    for index in range(min(len(writer), len(reader))):
        found = _pair(writer[index:], reader[index:], above)
        if found is not None:
            return found
    if len(writer) > len(reader):
        return _end(writer[len(reader)], None)
    return _end(None, reader[len(writer)]) if len(reader) > len(writer) else None


def _end(wrote: SignatureElement | None, reads: SignatureElement | None) -> Difference:
    more = wrote or reads
    assert more is not None
    if isinstance(more, Tags):
        reason = "FLEXIBLE" if more.form == "sequential" else "SECTION"
    else:
        reason = "FIELD_REMOVED" if reads is None else "FIELD_ADDED"
    return Difference(reason, more.label, _words(wrote), _words(reads))


def _pair(writer: WireSignature, reader: WireSignature, above: Above) -> Difference | None:
    wrote, reads = writer[0], reader[0]
    if isinstance(wrote, FixedWidth) and isinstance(reads, FixedWidth) and wrote.form == reads.form:
        return None
    if isinstance(wrote, LengthPrefixed) and isinstance(reads, LengthPrefixed) and wrote.form == reads.form:
        return _lengths(wrote, reads)
    if isinstance(wrote, CountPrefixed) and isinstance(reads, CountPrefixed):
        return _lengths(wrote, reads) or _within(inside_of(wrote), inside_of(reads))
    if isinstance(wrote, Nullable) and isinstance(reads, Nullable) and wrote.is_tagged == reads.is_tagged:
        return _within(inside_of(wrote), inside_of(reads))
    if isinstance(wrote, Tags) and isinstance(reads, Tags):
        return _sections(wrote, reads)
    return _other(writer, reader, above)


def _within(wrote: Inside, reads: Inside) -> Difference | None:
    return _sequence(wrote.signature, reads.signature, (wrote, reads))


def _lengths(wrote: LengthPrefixed | CountPrefixed, reads: LengthPrefixed | CountPrefixed) -> Difference | None:
    if wrote.compact != reads.compact:
        return Difference("FLEXIBLE", reads.label, _words(wrote), _words(reads))
    if wrote.nullable and not reads.nullable:
        return Difference("NULLABLE", reads.label, _words(wrote), _words(reads))
    return None


def _sections(wrote: Tags, reads: Tags) -> Difference | None:
    if wrote.form != reads.form:
        return Difference("SECTION", reads.label, f"{wrote.form} tags", f"{reads.form} tags")
    known = {each.tag: each for each in reads.fields}
    for each in wrote.fields:
        other = known.get(each.tag)
        if other is None and each.tag in reads.absent:
            refused = f"tag {each.tag} of other versions, rejected"
            return Difference("TAG_REFUSED", each.label, f"tag {each.tag}, {each.label}", refused)
        if other is None:
            continue
        found = _within(Inside(each.label, each.value), Inside(other.label, other.value))
        if found is not None:
            if found.reason in ("TAGGED_DEFAULT", "TAG_REFUSED"):
                return found  # the nested field is a better location
            words = (f"tag {each.tag}: {what}" for what in (found.wrote, found.reads))
            return Difference("TAGGED_VALUE", other.label, *words)
        if each.default != other.default:
            words = (f"{default} where tag {each.tag} is absent" for default in (each.default, other.default))
            return Difference("TAGGED_DEFAULT", other.label, *words)
    return None


def _other(writer: WireSignature, reader: WireSignature, above: Above) -> Difference:
    wrote, reads = writer[0], reader[0]
    words = (_words(wrote), _words(reads))
    if isinstance(wrote, Nullable) or isinstance(reads, Nullable):
        of_same = {wrote.label.split(".")[0]} == {reads.label.split(".")[0]}
        if of_same:
            return Difference("PRESENCE", min(wrote.label, reads.label, key=len), *words)
    if isinstance(wrote, Tags) or isinstance(reads, Tags):
        return _end(wrote if isinstance(reads, Tags) else None, reads if isinstance(wrote, Tags) else None)
    one, two = (_names(*each) for each in zip((writer, reader), above, strict=True))
    is_gone, is_new = one[0] not in two, two[0] not in one
    if is_gone != is_new:
        return Difference("FIELD_REMOVED" if is_gone else "FIELD_ADDED", (wrote if is_gone else reads).label, *words)
    is_same = one[0] == two[0]
    reason = "REPLACED" if is_gone else _of_types(wrote, reads) if is_same else "REORDERED"
    return Difference(reason, reads.label, *words)


def _names(signature: WireSignature, above: Inside) -> list[Parts]:
    return [parts(each.label, above.path) for each in signature]


def _of_types(wrote: SignatureElement, reads: SignatureElement) -> str:
    if not isinstance(wrote, FixedWidth) or not isinstance(reads, FixedWidth):
        return "TYPE"
    forms = {wrote.form, reads.form}
    if any("varint" in form for form in forms):
        return "ENCODING"
    is_integer = forms <= INTEGERS.keys()
    return "WIDTH" if is_integer and len({INTEGERS[form].is_signed for form in forms}) == 1 else "TYPE"


def _words(element: SignatureElement | None) -> str:
    if element is None:
        return "the end"
    if isinstance(element, Tags):
        return f"{element.form} tags"
    return f"{element.label}: {element}"
