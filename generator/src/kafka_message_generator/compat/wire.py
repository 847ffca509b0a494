"""Wire rules: a released version keeps its layout and header, a message its API key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kafka_message_generator.compat.compare import Difference, added_tags, difference
from kafka_message_generator.compat.definition_sets import Baseline, DefinitionSet, Released
from kafka_message_generator.compat.findings import CompatFinding, Direction
from kafka_message_generator.compat.signatures import WireSignature, digest, labels, signature_of
from kafka_message_generator.compat.witness import Witness, witness
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.rules.headers import header_versions
from kafka_message_generator.spec.model import REQUEST, RESPONSE, Message

EQUAL, COMPATIBLE, CHANGED = "equal", "compatible", "changed"
_NEW_VERSION = "keep the released versions unchanged; make the change in a new version"


@dataclass(frozen=True)
class Verdict:
    """The result for a released version; ``state`` is equal, compatible or changed."""

    message: str
    version: int
    state: str
    findings: tuple[CompatFinding, ...] = ()


def verdicts(old: Baseline, new: DefinitionSet) -> Iterator[Verdict]:
    for name in sorted(old.versions.keys() & new.plans.keys()):
        for version, released in sorted(old.versions[name].items()):
            if version in new.plans[name].valid:
                yield _verdict(name, version, released, new)


def _verdict(name: str, version: int, released: Released, new: DefinitionSet) -> Verdict:
    before, after = signature_of(released.plan, version), signature_of(new.plans[name], version)
    if before == after and list(labels(before)) == list(labels(after)):
        return Verdict(name, version, EQUAL)
    forth, back = difference(before, after), difference(after, before)
    digests, since = (digest(before), digest(after)), released.source.name
    finding = CompatFinding("", name, "", (version,), "", "", new.location(name), *digests, since)
    if forth is None and back is None:
        advice = tuple(_tag_advice(finding, before, after, new))
        return Verdict(name, version, EQUAL if before == after else COMPATIBLE, advice)
    return Verdict(name, version, CHANGED, (_changed(finding, forth, back, released, new),))


def _tag_advice(
    finding: CompatFinding, before: WireSignature, after: WireSignature, new: DefinitionSet
) -> Iterator[CompatFinding]:
    for rule, found, verb in (
        ("TAGGED_FIELD_ADDED", added_tags(before, after), "was added"),
        ("TAGGED_FIELD_REMOVED", added_tags(after, before), "was removed"),
    ):
        for each in found:
            yield replace(
                finding,
                rule=rule,
                path=each.label,
                what=f"the tagged field {each.label} (tag {each.tag}) {verb}",
                remedy="no action needed",
                location=new.location(finding.message, each.label),
            )


def _changed(
    finding: CompatFinding, forth: Difference | None, back: Difference | None, released: Released, new: DefinitionSet
) -> CompatFinding:
    name, version = finding.message, finding.versions[0]
    new_reads_old, old_reads_new = Direction(None), Direction(None)
    if forth is not None:
        found = witness(released.plan, new.plans[name], version)
        new_reads_old = _direction(forth, found, f"was {forth.wrote}; is {forth.reads}")
    if back is not None:
        found = witness(new.plans[name], released.plan, version)
        old_reads_new = _direction(back, found, f"was {back.reads}; is {back.wrote}")
    main = forth or back
    assert main is not None
    is_default = main.reason == "TAGGED_DEFAULT"
    return replace(
        finding,
        rule="TAGGED_DEFAULT_CHANGED" if is_default else "RELEASED_LAYOUT_CHANGED",
        reason="" if is_default else main.reason,
        path=main.path,
        what=new_reads_old.what or old_reads_new.what,
        remedy=_NEW_VERSION,
        location=new.location(name, main.path.removesuffix("[]")),
        new_reads_old=new_reads_old,
        old_reads_new=old_reads_new,
    )


def _direction(found: Difference, data: Witness | None, what: str) -> Direction:
    return Direction("differs" if data is None else data.outcome, data, found.path, what)


def header_findings(old: Baseline, new: DefinitionSet) -> Iterator[CompatFinding]:
    for name, released in sorted(old.versions.items()):
        message = new.messages.get(name)
        if message is None or message.kind not in (REQUEST, RESPONSE) or message.is_removed:
            continue
        by_change: dict[tuple[int, int, str], list[int]] = {}
        for version, each in sorted(released.items()):
            before, after = header_of(each.source.messages[name], version), header_of(message, version)
            if version in message.valid and before != after:
                by_change.setdefault((before, after, each.source.name), []).append(version)
        for (before, after, since), versions in by_change.items():
            what = f"had header version {before}, has {after}"
            remedy = "keep the header of released versions: see flexibleVersions and headerVersions"
            about = (tuple(versions), what, remedy, message.at("headerVersions"), str(before), str(after), since)
            yield CompatFinding("HEADER_VERSION_CHANGED", name, "", *about)


def header_of(message: Message, version: int) -> int:
    return next(header for first, header in reversed(header_versions(message)) if first <= version)


def key_findings(old: Baseline, new: DefinitionSet) -> Iterator[CompatFinding]:
    """Yield findings about changed API keys and types, reused API keys, and renamed messages."""
    owners: dict[tuple[str, int], tuple[str, str]] = {}
    last: dict[str, tuple[Message, str]] = {}
    for definition_set in old.sets:
        for message in definition_set.messages.values():
            last[message.name] = (message, definition_set.name)
            if message.api_key is not None:
                owners[message.kind, message.api_key] = (message.name, definition_set.name)
    for name, message in sorted(new.messages.items()):
        before, release = last.get(name, (message, ""))
        if before.api_key is not None and before.api_key != message.api_key:
            now = "none" if message.api_key is None else str(message.api_key)
            yield _key_finding("API_KEY_CHANGED", message, str(before.api_key), now, release)
        elif before.api_key is not None and before.kind != message.kind:
            yield _key_finding("MESSAGE_TYPE_CHANGED", message, before.kind, message.kind, release)
        if message.api_key is None:
            continue
        owner, since = owners.get((message.kind, message.api_key), (name, ""))
        if owner == name or owner in new.messages:
            continue  # the rules for definitions reject duplicate keys
        is_same = name in new.plans and _has_layouts_of(old.versions.get(owner, {}), new.plans[name])
        yield _key_finding("MESSAGE_RENAMED" if is_same else "API_KEY_REUSED", message, owner, name, since)


def _has_layouts_of(released: dict[int, Released], plan: MessagePlan) -> bool:
    pairs = [
        (signature_of(each.plan, version), signature_of(plan, version))
        for version, each in released.items()
        if version in plan.valid
    ]
    return bool(pairs) and not any(difference(one, two) or difference(two, one) for one, two in pairs)


def _key_finding(rule: str, message: Message, before: str, after: str, since: str) -> CompatFinding:
    what, remedy = {
        "API_KEY_CHANGED": (f"had apiKey {before}, has {after}", "keep the key"),
        "MESSAGE_TYPE_CHANGED": (f"was of type {before}, is of type {after}", "keep the type"),
        "API_KEY_REUSED": (f"apiKey {message.api_key} was {before}'s", "take a key that no release had"),
        "MESSAGE_RENAMED": (f"was named {before}", "keep the name"),
    }[rule]
    place = message.at("type" if rule == "MESSAGE_TYPE_CHANGED" else "apiKey")
    return CompatFinding(rule, message.name, "", (), what, remedy, place, before, after, since)
