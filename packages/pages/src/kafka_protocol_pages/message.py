"""The page of a message: properties, fields by version, and layouts with samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.render.tables import logs
from kafka_message_generator.rules.headers import HeaderVersions, header_versions
from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, METADATA, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.versions import MAX_VERSION, Versions
from kafka_protocol_pages.byte_view import Box, boxes_of
from kafka_protocol_pages.fields import FieldRow, fields_of, runs_of, title_of, version_ranges
from kafka_protocol_pages.inspector import Inspector, inspect
from kafka_protocol_pages.lifetimes import NOTHING, Lifetime, Lifetimes, Release
from kafka_protocol_pages.package import Package
from kafka_protocol_pages.samples import Samples, framed

KINDS = {
    REQUEST: "Request",
    RESPONSE: "Response",
    "header": "Header",
    METADATA: "Metadata record",
    COORDINATOR_KEY: "Record key",
    COORDINATOR_VALUE: "Record value",
    "data": "Data",
}


@dataclass(frozen=True)
class Fact:
    """A property in the list at the top of the page; ``link`` is an address or empty."""

    name: str
    text: str
    link: str = ""


@dataclass(frozen=True)
class SampleView:
    versions: Versions
    inspector: Inspector
    heading: str


@dataclass(frozen=True)
class VersionSection:
    versions: Versions
    boxes: tuple[Box, ...]
    bnf: str
    samples: tuple[SampleView, ...]

    @property
    def id(self) -> str:
        return f"v{self.versions.lowest}"

    @property
    def title(self) -> str:
        return title_of(self.versions)

    @property
    def others(self) -> tuple[int, ...]:
        return tuple(self.versions)[1:]


@dataclass(frozen=True)
class VersionRelease:
    """A release that added, lacks or removed versions; ``versions`` is empty if these are all versions of a column."""

    versions: str
    release: Release


@dataclass(frozen=True)
class MessagePage:
    plan: MessagePlan
    message: Message
    kind: str
    facts: tuple[Fact, ...]
    runs: tuple[Versions, ...]
    fields: tuple[FieldRow, ...]
    lifetime: Lifetime
    lifetimes: dict[int, Lifetime]
    kips: Mapping[int, tuple[int, ...]]
    """Numbers of KIPs by version; most versions have none."""

    @property
    def has_lifetime(self) -> bool:
        return self.lifetime.since is not None

    @property
    def has_end(self) -> bool:
        return any(lifetime.until is not None for lifetime in self.lifetimes.values())

    @property
    def has_gaps(self) -> bool:
        """True if a release lacks a version that older and newer releases have."""
        return any(lifetime.gaps for lifetime in self.lifetimes.values())

    def since(self, versions: Versions) -> tuple[VersionRelease, ...]:
        return self._releases_of(versions, lambda lifetime: (lifetime.since,))

    def gaps(self, versions: Versions) -> tuple[VersionRelease, ...]:
        return self._releases_of(versions, lambda lifetime: lifetime.gaps)

    def until(self, versions: Versions) -> tuple[VersionRelease, ...]:
        return self._releases_of(versions, lambda lifetime: (lifetime.until,))

    def _releases_of(
        self, versions: Versions, select: Callable[[Lifetime], Sequence[Release | None]]
    ) -> tuple[VersionRelease, ...]:
        by_release: dict[Release, list[int]] = {}
        for version in versions:
            for release in select(self.lifetimes[version]):
                if release is not None:
                    by_release.setdefault(release, []).append(version)
        every = list(versions)
        return tuple(
            VersionRelease("" if each == every else version_ranges(each), release)
            for release, each in by_release.items()
        )

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def about(self) -> str:
        return self.plan.about

    @property
    def key(self) -> str:
        return "" if self.plan.api_key is None else str(self.plan.api_key)

    @property
    def flexible(self) -> str:
        return str(self.plan.flexible.intersect(self.plan.valid))


def page_of(plan: MessagePlan, definitions: Definitions, lifetimes: Lifetimes = NOTHING) -> MessagePage:
    message = next(each for each in definitions.messages if each.name == plan.name)
    runs = runs_of(plan)
    lifetime = lifetimes.message(plan.name, plan.valid)
    facts = (*_facts(plan, message, definitions), *_facts_of_lifetime(lifetime))
    fields = fields_of(plan, runs, definitions.entities, lifetimes)
    by_version = {version: lifetimes.version(plan.name, version) for version in plan.valid}
    kips = definitions.kips.get(plan.name, {})
    return MessagePage(plan, message, KINDS[plan.kind], facts, runs, fields, lifetime, by_version, kips)


def parts_of(
    page: MessagePage, package: Package, samples: Sequence[tuple[str, Samples]], is_joined: bool
) -> Iterator[VersionSection]:
    """Yield a section for each version, or if ``is_joined`` for each range of versions with equal layouts."""
    name = page.plan.name
    runs = page.runs if is_joined else [Versions(version, version) for version in page.plan.valid]
    for run in runs:
        version_ranges = tuple(
            each for words, found in samples for each in _sample_views(page, run, package, words, found)
        )
        yield VersionSection(run, boxes_of(page.plan, run.highest), package.bnf(name, run.highest), version_ranges)


def _sample_views(
    page: MessagePage, run: Versions, package: Package, words: str, samples: Samples
) -> Iterator[SampleView]:
    name = page.plan.name
    for sample, group in groupby(run, key=lambda version: samples.get((name, version))):
        versions = list(group)
        if sample is not None:
            own = Versions(versions[0], versions[-1])
            heading = words if own == run else f"{words}, {title_of(own).lower()}"
            yield SampleView(own, inspect(package, framed(package, page.plan, own.highest, sample)), heading)


def _facts(plan: MessagePlan, message: Message, definitions: Definitions) -> Iterator[Fact]:
    owner = _owner(message, definitions.messages)
    if plan.api_key is not None:
        is_api = plan.kind in (REQUEST, RESPONSE)
        yield Fact("API key" if is_api else "Record type", str(plan.api_key), "apis.html" if is_api else "records.html")
    yield Fact("Versions", f"{plan.valid}{', the last one unstable' if owner.latest_version_unstable else ''}")
    yield Fact("Flexible versions", str(plan.flexible.intersect(plan.valid)), "types.html#flexible")
    deprecated = owner.deprecated.intersect(plan.valid)
    if not deprecated.empty:
        yield Fact("Deprecated versions", str(deprecated))
    if owner.supported is not None and owner.supported != plan.valid:
        yield Fact("Negotiated versions", str(owner.supported))
    if plan.kind in (REQUEST, RESPONSE):
        yield Fact("Header", headers_text(plan.kind, plan.valid, header_versions(message)), "headers.html")
        yield from _pair(plan, definitions)
    if owner.listeners:
        yield Fact("Listeners", ", ".join(owner.listeners))
    topics = [topic for topic, folder in logs(definitions) if folder == definitions.folders[plan.name]]
    if topics and plan.kind in (COORDINATOR_KEY, COORDINATOR_VALUE, METADATA):
        yield Fact("Internal topic", ", ".join(topics), "records.html")
    yield Fact("Definition", plan.file)


def _facts_of_lifetime(lifetime: Lifetime) -> Iterator[Fact]:
    if lifetime.since is not None:
        yield Fact("Since", lifetime.since.since, lifetime.since.link)
    if lifetime.until is not None:
        yield Fact("Until", f"Kafka {lifetime.until.name}", lifetime.until.link)


def _owner(message: Message, messages: Sequence[Message]) -> Message:
    if message.kind != RESPONSE:
        return message
    requests = (each for each in messages if each.kind == REQUEST and each.api_key == message.api_key)
    return next(requests, message)


def _pair(plan: MessagePlan, definitions: Definitions) -> Iterator[Fact]:
    if plan.kind == REQUEST:
        yield Fact("Response", plan.response or "none", f"messages/{plan.response}.html" if plan.response else "")
        return
    for each in definitions.plans:
        if each.response == plan.name:
            yield Fact("Request", each.name, f"messages/{each.name}.html")


def headers_text(kind: str, valid: Versions, pairs: HeaderVersions) -> str:
    """Format header versions, such as ``RequestHeader 1 for versions 0-8, 2 for versions 9-13``."""
    name = "RequestHeader" if kind == REQUEST else "ResponseHeader"
    runs = header_runs(valid, pairs)
    return f"{name} {', '.join(f'{header} for {title_of(run).lower()}' for run, header in runs)}"


def header_runs(valid: Versions, pairs: HeaderVersions) -> Iterator[tuple[Versions, int]]:
    ends = [first - 1 for first, _ in pairs[1:]] + [MAX_VERSION]
    for (first, header), end in zip(pairs, ends, strict=True):
        bodies = Versions(first, end).intersect(valid)
        if not bodies.empty:
            yield bodies, header
