"""Impact of a new release: what its bytes mean for clients, proxies and log readers of the old one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_message_generator.compat.definition_sets import Baseline, DefinitionSet
from kafka_message_generator.compat.impact_versions import EXCHANGED, MessageStep, steps
from kafka_message_generator.compat.report import CompatReport, compare
from kafka_message_generator.compat.witness import Witness
from kafka_message_generator.plan.model import ranges
from kafka_message_generator.rules.headers import REQUEST_HEADER
from kafka_message_generator.spec.model import REQUEST

_ELSEWHERE = (
    "VERSION_DROPPED",
    "MESSAGE_REMOVED",
    "MESSAGE_RENAMED",
    "UNSTABLE_RELEASED",
    "VERSION_WITHOUT_CHANGE",
    "TAGGED_FIELD_ADDED",
    "TAGGED_FIELD_REMOVED",
)
"""Rules about versions and tagged fields, which have their own items."""
_OF_LAYOUT = ("FIELD_GONE", "JSON_TYPE_CHANGED", "PYTHON_TYPE_CHANGED")
"""Rules about code and JSON that follow from a changed layout."""
_ABOUT = {
    "New and changed": "New versions with their difference from the version before, then other changes.",
    "No change on the wire": "The bytes are the same; code, JSON or the documentation differ.",
    "Clients": "Clients of the old release, with brokers of the new one: they write requests and read responses. Clients "
    "negotiate versions, so they do not use new ones. They are refused if none of their versions is left.",
    "Proxies": "Proxies with the old definitions cannot decode these messages: remove the versions from ApiVersionsResponse, "
    "or pass the bytes undecoded. The bytes are message bodies, which a decoder misreads if it ignores the version.",
    "Log readers": "Readers of internal topics, snapshots and the metadata log with the old definitions lack these record "
    "versions. The definitions do not say when brokers begin to write a version: this depends on the features that a cluster "
    "enables.",
    "Left for a person": "Decisions that no definition contains, with the test that covers each.",
}
_SKIPPED = "skipped as unknown"
_LOST = f"{_SKIPPED}; lost when the message is written again without its unknown tags"


@dataclass(frozen=True)
class ImpactItem:
    """One change; ``place`` is a message with versions, or a file."""

    place: str
    what: str
    data: bytes = b""
    """Body of the message as the new release writes it; empty if no bytes are shown."""
    outcome: str = ""
    """What a decoder of the old release makes of ``data``."""


@dataclass(frozen=True)
class ImpactSection:
    title: str
    about: str
    items: tuple[ImpactItem, ...]


@dataclass(frozen=True)
class ImpactReport:
    old: str
    new: str
    sections: tuple[ImpactSection, ...]


def impact(old: Baseline, new: DefinitionSet, to_do: Iterable[ImpactItem] | None = None) -> ImpactReport:
    """Return what changed from the newest set of ``old``, and what breaks in programs made for it.

    ``to_do`` are the decisions left for a person; None leaves out their section.
    """
    newest, report = old.newest, compare(old, new)
    found = list(steps(newest, new))
    known = {step.former for step in found}
    gone = [(name, newest.messages[name].kind in EXCHANGED) for name in sorted(newest.plans) if name not in known]
    exchanged, logged = ([each for each in found if each.is_exchanged == is_so] for is_so in (True, False))
    removed = {name: f"removed with all its versions ({newest.plans[name].valid})" for name, _ in gone}
    apis, records = ([ImpactItem(name, removed[name]) for name, is_ in gone if is_ == is_so] for is_so in (True, False))
    sections: dict[str, list[ImpactItem]] = {
        "New and changed": [*_changed(found, report), *apis, *records],
        "No change on the wire": list(_same(found, report)),
        "Clients": [*_broken(exchanged, report, is_client=True), *_refused(exchanged, report), *apis],
        "Proxies": [*_broken(exchanged, report), *_unknown(exchanged), *_tags(exchanged, _LOST)],
        "Log readers": [*_broken(logged, report), *_unknown(logged), *_tags(logged, _SKIPPED), *records],
    }
    if to_do is not None:
        sections["Left for a person"] = list(to_do)
    found_sections = (ImpactSection(title, _ABOUT[title], tuple(items)) for title, items in sections.items())
    return ImpactReport(newest.name, new.name, tuple(found_sections))


def _changed(found: Iterable[MessageStep], report: CompatReport) -> Iterator[ImpactItem]:
    for step in found:
        message = step.new.messages[step.name]
        if step.former not in (None, step.name):
            yield ImpactItem(step.name, f"was named {step.former}")
        for version in () if step.has_new_numbering else step.brought:
            key = "" if message.api_key is None else f", apiKey {message.api_key}"
            words = [f"new {message.kind}{key}"] if step.former is None else []
            words += filter(None, [step.changes(version), step.topic_ids(version), step.stability(version)])
            yield ImpactItem(f"{step.name} {version}", "; ".join(words))
        if step.dropped and not step.has_new_numbering:
            yield ImpactItem(f"{step.name} {ranges(step.dropped)}", f"removed{step.dropped_note}")
    yield from _tags(found)
    for finding in report.findings:
        sides = [side for side in (finding.new_reads_old, finding.old_reads_new) if side is not None and side.breaks]
        if finding.level == "wire" and not sides:
            yield ImpactItem(finding.place, finding.what)
        for path, what in dict.fromkeys((side.path, side.what) for side in sides):
            yield ImpactItem(replace(finding, path=path).place, what)


def _same(found: Iterable[MessageStep], report: CompatReport) -> Iterator[ImpactItem]:
    texts: dict[str, list[str]] = {}
    renamed = {(each.message, each.path) for each in report.findings if each.rule == "FIELD_RENAMED"}
    changed = {each.message for each in report.findings if each.new_reads_old is not None}
    for finding in report.findings:
        is_known = finding.rule == "JSON_NAME_CHANGED" and (finding.message, finding.path) in renamed
        is_known |= finding.rule in _OF_LAYOUT and finding.message in changed
        if finding.level != "wire" and finding.rule not in _ELSEWHERE and not is_known and finding.path[-1:] != "]":
            texts.setdefault(finding.message, []).append(f"{finding.path}: {finding.what}".removeprefix(": "))
    for step in found:
        if step.former is not None:
            texts.setdefault(step.name, []).extend(_unseen(step, step.former))
    yield from (ImpactItem(name, "; ".join(each)) for name, each in sorted(texts.items()) if each)
    if keys := [f"{step.name} ({step.new.messages[step.name].api_key})" for step in found if step.has_new_numbering]:
        yield ImpactItem("record keys", f"the record type is the apiKey, no longer the version: {', '.join(keys)}")


def _unseen(step: MessageStep, former: str) -> Iterator[str]:
    """Yield changes for which ``compat`` has no rule."""
    before, now = step.old.messages[former], step.new.messages[step.name]
    was, is_ = dict(step.old.members(former)), dict(step.new.members(step.name))
    if before.about and before.about != now.about:  # the history has no descriptions
        yield "another description"
    if described := sorted(path for path in was.keys() & is_.keys() if was[path].about not in ("", is_[path].about)):
        yield f"another description of {', '.join(described)}"
    if [path for path in was if path in is_] != [path for path in is_ if path in was]:
        yield "another order of fields in the file"
    if before.deprecated != now.deprecated:
        yield f"deprecated versions were {before.deprecated}, are {now.deprecated}"


def _broken(found: Iterable[MessageStep], report: CompatReport, is_client: bool = False) -> Iterator[ImpactItem]:
    """Yield changes of the bytes that break a program of the old release.

    A client writes requests and their header, which the new release reads; other programs read all messages.
    """
    kinds = {step.name: step.new.messages[step.name].kind for step in found}
    for finding in report.findings:
        if finding.level != "wire" or finding.message not in kinds:
            continue
        is_written = is_client and (kinds[finding.message] == REQUEST or finding.message == REQUEST_HEADER)
        direction = finding.new_reads_old if is_written else finding.old_reads_new
        reader = "bytes of the old release: the new decoder" if is_written else "the old decoder"
        if direction is None:  # not about the layout: tags, keys and headers differ for both sides
            yield ImpactItem(finding.place, finding.what)
        elif direction.breaks is not None:
            yield _item(replace(finding, path=direction.path).place, direction.what, direction.witness, reader)


def _item(place: str, what: str, witness: Witness | None, decoder: str) -> ImpactItem:
    if witness is None:
        return ImpactItem(place, what)
    return ImpactItem(place, what, witness.data, f"{decoder} {witness.outcome}: {witness.detail}")


def _refused(found: Iterable[MessageStep], report: CompatReport) -> Iterator[ImpactItem]:
    for step in found:
        left = ranges(tuple(version for version in step.known if version not in step.dropped))
        if step.dropped:
            what = f"clients need one of {left}" if left else "no version is left, so clients are refused"
            yield ImpactItem(f"{step.name} {ranges(step.dropped)}", f"removed{step.dropped_note}: {what}")
    yield from (ImpactItem(each.message, each.what) for each in report.findings if each.rule == "LISTENER_REMOVED")


def _unknown(found: Sequence[MessageStep]) -> Iterator[ImpactItem]:
    known = [step for step in found if step.former is not None and not step.has_new_numbering]
    versions = [(step, version) for step in known for version in step.brought if _matters(step, version)]
    for step, version in sorted(versions, key=lambda each: each[0].topic_ids(each[1]) is None):
        yield _unknown_version(step, version)
    if new := [f"{step.name} {ranges(step.brought)}" for step in found if step.former is None and step.brought]:
        yield ImpactItem("new messages", f"unknown: {', '.join(new)}")
    for step in found:
        headers = [] if step.former is not None else list(map(step.unknown_header, step.brought))
        yield from (ImpactItem(step.name, header) for header in dict.fromkeys(filter(None, headers)))


def _matters(step: MessageStep, version: int) -> bool:
    return not step.reads_unstable(version) or step.topic_ids(version) is not None


def _unknown_version(step: MessageStep, version: int) -> ImpactItem:
    unstable = "stable now" if step.reads_unstable(version) else "another layout"
    words = [unstable if version in step.known else "unknown version", step.unknown_header(version)]
    if ids := step.topic_ids(version):
        words.append(f"{ids}; rules by topic name need a mapping of ids to names")
    known, witness = step.witness(version) or (None, None)
    if known is not None and known != version and witness is None:
        words.append(f"a decoder of version {known} reads its bytes")
    words.append(step.stability(version))
    what = "; ".join(filter(None, words))
    return _item(f"{step.name} {version}", what, witness, f"a decoder of version {known}")


def _tags(found: Iterable[MessageStep], meaning: str = "") -> Iterator[ImpactItem]:
    for step in found:
        for labels, versions in step.new_tags.items():
            what = ": ".join(filter(None, (f"new tagged fields {', '.join(labels)}", meaning)))
            yield ImpactItem(f"{step.name} {ranges(tuple(versions))}", what)
