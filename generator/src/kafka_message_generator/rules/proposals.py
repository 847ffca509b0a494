"""Rules for the extensions in docs/protocol: integer encodings, tagged-field formats, optional-field buffers."""

from __future__ import annotations

import contextlib
import itertools
import re

from kafka_message_generator.rules.defaults import DefaultError, default_of
from kafka_message_generator.spec.model import ENCODED_TYPES, Encoding, Field, Message
from kafka_message_generator.spec.source import Problems

_ENCODING = re.compile(r"(fixed|packed|upacked)(16|32|64)")


def check(message: Message, problems: Problems) -> None:
    _optional_message(message, problems)
    if message.tagged_field_format != "sequential" and message.flexible.empty:
        what = f"taggedFieldFormat {message.tagged_field_format} needs flexibleVersions; add them or remove it"
        problems.error(message.at("taggedFieldFormat"), what)
    for member in message.all_fields():
        _encoding(member, problems)
        _element_encoding(member, problems)
        _optional_field(message, member, problems)


def _encoding(member: Field, problems: Problems) -> None:
    if not member.encodings:
        return
    if member.type.is_array or member.type.name not in ENCODED_TYPES:
        advice = "use elementEncoding for an array" if member.type.is_array else f"use {', '.join(ENCODED_TYPES)}"
        what = f"field {member.name} of type {member.type} cannot have an encoding"
        problems.error(member.at("encoding"), f"{what}; {advice}")
        return
    _encodings(member, member.encodings, "encoding", problems)


def _element_encoding(member: Field, problems: Problems) -> None:
    if not member.element_encodings:
        return
    if not member.type.is_array or member.type.name not in ENCODED_TYPES:
        what = f"field {member.name} of type {member.type} cannot have an elementEncoding"
        problems.error(member.at("elementEncoding"), f"{what}; only arrays of {', '.join(ENCODED_TYPES)} can")
        return
    _encodings(member, member.element_encodings, "elementEncoding", problems)


def _encodings(member: Field, encodings: tuple[Encoding, ...], key: str, problems: Problems) -> None:
    bits = ENCODED_TYPES[member.type.name]
    for encoding in encodings:
        if not _ENCODING.fullmatch(encoding.name):
            what = f"unknown encoding {encoding.name!r}; use fixed, packed or upacked, followed by 16, 32 or 64"
            problems.error(encoding.location, f"{what}, for example packed{bits}")
        elif encoding.bits > bits:
            what = f"encoding {encoding.name} is wider than field {member.name} of type {member.type}"
            problems.error(encoding.location, f"{what}; use at most {bits} bits")
        else:
            _default_fits(member, encoding, problems)
    _coverage(member, encodings, key, problems)


def _default_fits(member: Field, encoding: Encoding, problems: Problems) -> None:
    if member.type.is_array or member.tagged.covers(encoding.versions):
        return
    with contextlib.suppress(DefaultError):  # reported by another rule
        value = default_of(member)
        if isinstance(value, int) and not -(1 << encoding.bits - 1) <= value < 1 << encoding.bits - 1:
            what = f"default {value} of field {member.name} is out of range for encoding {encoding.name}"
            problems.error(encoding.location, f"{what}; change one of the two")


def _coverage(member: Field, encodings: tuple[Encoding, ...], key: str, problems: Problems) -> None:
    if problems.has_error_at(member.at("versions")):
        return
    ordered = sorted(encodings, key=lambda encoding: encoding.versions)
    for earlier, later in itertools.combinations(ordered, 2):
        if not earlier.versions.intersect(later.versions).empty:
            what = f"{key} of field {member.name}: ranges {earlier.versions} and {later.versions} overlap"
            problems.error(later.location, f"{what}; give each version one encoding")
    covered = {version for encoding in encodings for version in encoding.versions}
    wanted = set(member.versions)
    for versions, what in ((wanted - covered, "has no encoding"), (covered - wanted, "does not have the field")):
        if versions:
            message = f"{key} of field {member.name}: version {min(versions)} {what}"
            problems.error(member.at(key), f"{message}; the ranges must be exactly {member.versions}")


def _optional_message(message: Message, problems: Problems) -> None:
    if problems.has_error_at(message.places.get("versionsWithOptional")):
        return
    if message.with_optional.empty:
        for member in message.all_fields():
            if member.is_optional:
                what = f"optional field {member.name} in a message without versionsWithOptional"
                problems.error(member.location, f"{what}; add them, for example 9+")
        return
    if not message.with_optional.open_ended:
        what = f"versionsWithOptional {message.with_optional} must be open-ended, like 9+"
        problems.error(message.at("versionsWithOptional"), what)
    if not message.flexible.empty:
        what = "versionsWithOptional and flexibleVersions exclude each other"
        problems.error(message.at("versionsWithOptional"), f"{what}; use one of them")


def _optional_field(message: Message, member: Field, problems: Problems) -> None:
    if member.optional_fields and not member.type.is_struct:
        what = f"field {member.name} of type {member.type} cannot have optionalFields"
        problems.error(member.at("optionalFields"), f"{what}; only structs can")
    if not member.is_optional:
        return
    if member.type.is_array and member.type.is_struct:
        what = f"optional field {member.name} is an array of structs, which optional-field buffers cannot contain"
        problems.error(member.at("type"), f"{what}; wrap the array in a struct")
    if member.type.name == "records":
        problems.error(member.at("type"), f"optional field {member.name} cannot be records; use bytes")
