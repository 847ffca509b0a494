"""Rules for a whole message, and for all messages together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from kafka_message_generator.rules.headers import API_VERSIONS_RESPONSE
from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, NAME, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.versions import MAX_VERSION, Versions, VersionsError

_OTHER = {REQUEST: RESPONSE, RESPONSE: REQUEST}
Keys = dict[tuple[str, str, int], Message]  # by folder (for records), kind and apiKey


def check(message: Message, problems: Problems) -> None:
    if message.is_removed:
        if message.header_versions is not None:
            what = f"message {message.name} has no valid versions, so it has no headers"
            problems.error(message.at("headerVersions"), f"{what}; remove headerVersions")
        return
    _versions(message, problems)
    _request_only(message, problems)
    _coordinator(message, problems)
    if message.header_versions is not None:
        _header_versions(message, message.header_versions, problems)


def _versions(message: Message, problems: Problems) -> None:
    if message.valid.open_ended and not problems.has_error_at(message.at("validVersions")):
        what = f"message {message.name} has validVersions {message.valid}, which has no highest version"
        problems.error(message.at("validVersions"), f"{what}; write for example 0-3")
    if not message.flexible.empty and not message.flexible.open_ended:
        what = f"message {message.name} has flexibleVersions {message.flexible}"
        problems.error(message.at("flexibleVersions"), f"{what}; they must be none or open-ended, like 2+")
    if message.flexible.lowest > message.valid.highest:
        what = f"message {message.name} has flexibleVersions {message.flexible}, but validVersions {message.valid}"
        problems.warn(message.at("flexibleVersions"), f"{what}; no version is flexible")
    if not message.valid.covers(message.deprecated):
        what = f"deprecatedVersions {message.deprecated} are not all in validVersions {message.valid}"
        problems.warn(message.at("deprecatedVersions"), f"{what}; narrow them")


def _request_only(message: Message, problems: Problems) -> None:
    if message.kind in (REQUEST, ""):
        return
    has = f"message {message.name} has type {message.kind}"
    if message.listeners:
        problems.error(message.at("listeners"), f"{has}, but listeners belong to requests; remove them")
    if message.latest_version_unstable:
        what = f"{has}, but latestVersionUnstable belongs to requests"
        problems.error(message.at("latestVersionUnstable"), f"{what}; remove it")


def _coordinator(message: Message, problems: Problems) -> None:
    if message.kind not in (COORDINATOR_KEY, COORDINATOR_VALUE):
        return
    if message.api_key is None and not problems.has_error_at(message.places.get("apiKey")):
        problems.error(message.location, f"{message.kind} {message.name} has no apiKey; add the type of the record")
    if message.kind == COORDINATOR_KEY:
        if message.valid != Versions(0, 0) and not problems.has_error_at(message.at("validVersions")):
            what = f"coordinator-key {message.name} has validVersions {message.valid}; a key must have only version 0"
            problems.error(message.at("validVersions"), what)
        if not message.flexible.empty:
            what = f"coordinator-key {message.name} cannot have flexibleVersions; write none"
            problems.error(message.at("flexibleVersions"), what)
    suffix = "Key" if message.kind == COORDINATOR_KEY else "Value"
    if not message.name.endswith(suffix) and NAME.fullmatch(message.name):
        problems.error(message.at("name"), f"{message.kind} {message.name} must have a name that ends in {suffix}")


def _header_versions(message: Message, ranges: dict[str, str], problems: Problems) -> None:
    """Check the ranges of the map (KIP-1313); ``headers.check`` checks the header versions."""
    place = message.at("headerVersions")
    if message.kind not in (REQUEST, RESPONSE, ""):
        what = f"message {message.name} has type {message.kind}, but headerVersions belong to requests and responses"
        problems.error(place, f"{what}; remove them")
        return
    if not ranges:
        problems.error(place, "headerVersions is empty; remove it or map every version to a header version")
        return
    found = []
    for text, header in ranges.items():
        try:
            found.append((Versions.parse(text), text, header))
        except VersionsError as error:
            problems.error(place, str(error))
            return
        if not re.fullmatch(r"[0-9]{1,4}", header):
            problems.error(place, f"headerVersions maps {text} to {header!r}; a header version is a number below 10000")
            return
        if message.name == API_VERSIONS_RESPONSE and int(header) != 0:  # KIP-511
            what = f"{message.name} has header {header} in {text}, but clients read it before they know versions"
            problems.error(place, f"{what}; give it header 0 in all versions")
    expected, last, before = 0, "", "0"
    for versions, text, header in sorted(found):
        if versions.empty:
            problems.error(place, f"headerVersions has the range {text}, which is empty; remove it")
        elif versions.lowest > expected:
            missing = Versions(expected, versions.lowest - 1)
            problems.error(place, f"headerVersions has no range for {missing}; add it, because every version needs one")
        elif versions.lowest < expected:
            problems.error(
                place, f"headerVersions has overlapping ranges {last} and {text}; give each version one header"
            )
        if int(header) < int(before):
            what = f"headerVersions decrease from {before} for {last} to {header} for {text}"
            problems.error(place, f"{what}; header versions must not decrease as versions increase")
        expected, last, before = max(expected, versions.highest + 1), text, header
    if expected <= MAX_VERSION:
        problems.error(place, f"headerVersions ends with {last}; the last range must be open, like {expected}+")


def check_all(
    messages: Sequence[Message], problems: Problems, one_way: Collection[str] = (), unread: Collection[str] = ()
) -> None:
    """Check that names and API keys are unique, and that requests, except ``one_way``, and responses form pairs.

    Messages in ``unread``, whose files cannot be read, count as present.
    """
    modules: dict[str, Message] = {}
    keys: Keys = {}
    for message in messages:
        earlier = modules.setdefault(snake_case(message.name), message)
        if earlier is not message:
            what = f"message {message.name} has the module name of {earlier.name}, defined at"
            problems.error(message.at("name"), f"{what} {earlier.location.file}:{earlier.location.line}; rename one")
        if message.api_key is not None:
            _register_key(message, keys, message.api_key, problems)
    without_key = {each.name for each in messages if problems.has_error_at(each.places.get("apiKey"))}
    untyped = {message.api_key for message in messages if not message.kind}
    for message in _unpaired(keys, problems):
        name = message.name.removesuffix(message.kind.capitalize()) + _OTHER[message.kind].capitalize()
        # The counterpart exists, but has an error of its own.
        is_here = name in unread or name in without_key or message.api_key in untyped
        if not is_here and message.name not in one_way:
            _report_unpaired(message, name, problems)


def _unpaired(keys: Keys, problems: Problems) -> Iterator[Message]:
    for (family, kind, key), message in keys.items():
        partner = keys.get((family, _OTHER.get(kind, ""), key))
        if partner is not None and kind in _OTHER:
            _same_versions(message, partner, problems)
        elif kind in _OTHER:
            yield message


def _report_unpaired(message: Message, name: str, problems: Problems) -> None:
    remedy = f"define {name} with the same apiKey"
    if message.kind == REQUEST:
        remedy += f", or list {message.name} under one-way, below [protocol] in package.toml"
    what = f"{message.kind} {message.name} with apiKey {message.api_key} has no {_OTHER[message.kind]}"
    problems.error(message.at("apiKey"), f"{what}; {remedy}")


def _same_versions(message: Message, partner: Message, problems: Problems) -> None:
    if message.kind != RESPONSE or message.valid == partner.valid:
        return
    if not any(problems.has_error_at(each.at("validVersions")) for each in (message, partner)):
        what = f"response {message.name} has validVersions {message.valid}, but request {partner.name}"
        problems.error(
            message.at("validVersions"),
            f"{what} has {partner.valid}; a request and its response must have the same versions",
        )


def _register_key(message: Message, keys: dict[tuple[str, str, int], Message], key: int, problems: Problems) -> None:
    if message.kind in (REQUEST, RESPONSE):
        family = ""
        suffix = message.kind.capitalize()
        if not message.name.endswith(suffix) and NAME.fullmatch(message.name):
            what = f"{message.kind} {message.name} must be named after its API, with the suffix {suffix}"
            problems.error(message.at("name"), what)
    else:
        # Records are numbered per log, which is the folder of the definition.
        family = message.location.file.rpartition("/")[0]
    earlier = keys.setdefault((family, message.kind, key), message)
    if earlier is not message:
        what = f"{message.kind} {message.name} has apiKey {key}, already used by {earlier.name}"
        problems.error(message.at("apiKey"), f"{what}; choose another")
