"""The page of a message: what it is, its fields across versions, and of each run of equal layouts boxes, BNF and bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.pages.boxes import Box, boxes_of
from kafka_message_generator.pages.fields import Field, fields_of, runs_of, shown, title_of
from kafka_message_generator.pages.framed import framed
from kafka_message_generator.pages.inspector import Inspector, inspect
from kafka_message_generator.pages.lives import NOTHING, Life, Lives, Release
from kafka_message_generator.pages.package import Package
from kafka_message_generator.pages.samples import Samples
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.render.tables import logs
from kafka_message_generator.rules.headers import HeaderVersions, header_versions
from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, METADATA, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.versions import MAX_VERSION, Versions

KINDS = {
    REQUEST: "Request",
    RESPONSE: "Response",
    "header": "Header",
    METADATA: "Metadata record",
    COORDINATOR_KEY: "Record key",
    COORDINATOR_VALUE: "Record value",
    "data": "Data",
}
"""What the kinds of messages are called on pages."""


@dataclass(frozen=True)
class Fact:
    """A line of what holds for the whole message; ``link`` is the name of a message or an address."""

    name: str
    text: str
    link: str = ""


@dataclass(frozen=True)
class Shown:
    """A sample, and the versions in which the message has these bytes."""

    versions: Versions
    inspector: Inspector
    heading: str


@dataclass(frozen=True)
class Part:
    """Versions with one layout."""

    versions: Versions
    boxes: tuple[Box, ...]
    bnf: str
    samples: tuple[Shown, ...]

    @property
    def id(self) -> str:
        return f"v{self.versions.lowest}"

    @property
    def title(self) -> str:
        return title_of(self.versions)

    @property
    def others(self) -> tuple[int, ...]:
        """Versions after the first, which links name too."""
        return tuple(self.versions)[1:]


@dataclass(frozen=True)
class Told:
    """A release, and which of several versions it is told of; empty for all of them."""

    versions: str
    release: Release


@dataclass(frozen=True)
class MessagePage:
    """A message as pages show it."""

    plan: MessagePlan
    message: Message
    kind: str
    facts: tuple[Fact, ...]
    runs: tuple[Versions, ...]
    fields: tuple[Field, ...]
    life: Life
    lives: dict[int, Life]
    """By version."""

    @property
    def has_life(self) -> bool:
        """Whether any release is known to have it."""
        return self.life.since is not None

    @property
    def has_end(self) -> bool:
        """Whether newer releases do not have some version any more."""
        return any(life.until is not None for life in self.lives.values())

    @property
    def has_gaps(self) -> bool:
        """Whether some release does not have a version that older and newer ones have."""
        return any(life.gaps for life in self.lives.values())

    def since(self, versions: Versions) -> tuple[Told, ...]:
        """The releases that brought some versions."""
        return self._told(versions, lambda life: (life.since,))

    def gaps(self, versions: Versions) -> tuple[Told, ...]:
        """The releases that do not have some versions, though older and newer ones have them."""
        return self._told(versions, lambda life: life.gaps)

    def until(self, versions: Versions) -> tuple[Told, ...]:
        """The first releases without some versions."""
        return self._told(versions, lambda life: (life.until,))

    def _told(self, versions: Versions, say: Callable[[Life], Sequence[Release | None]]) -> tuple[Told, ...]:
        by_release: dict[Release, list[int]] = {}
        for version in versions:
            for release in say(self.lives[version]):
                if release is not None:
                    by_release.setdefault(release, []).append(version)
        every = list(versions)
        return tuple(Told("" if each == every else shown(each), release) for release, each in by_release.items())

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def about(self) -> str:
        return self.plan.about

    @property
    def key(self) -> str:
        """The API key or the type of a record; empty where there is none."""
        return "" if self.plan.api_key is None else str(self.plan.api_key)

    @property
    def flexible(self) -> str:
        """The flexible versions."""
        return str(self.plan.flexible.intersect(self.plan.valid))


def page_of(plan: MessagePlan, definitions: Definitions, lives: Lives = NOTHING) -> MessagePage:
    """What is said of a message on its page, but for its versions."""
    message = next(each for each in definitions.messages if each.name == plan.name)
    runs = runs_of(plan)
    life = lives.message(plan.name, plan.valid)
    facts = (*_facts(plan, message, definitions), *_facts_of_life(life))
    fields = fields_of(plan, runs, definitions.entities, lives)
    by_version = {version: lives.version(plan.name, version) for version in plan.valid}
    return MessagePage(plan, message, KINDS[plan.kind], facts, runs, fields, life, by_version)


def parts_of(
    page: MessagePage, package: Package, samples: Sequence[tuple[str, Samples]], is_joined: bool
) -> Iterator[Part]:
    """The versions of a message; with ``is_joined`` neighbours with one layout are one part.

    ``samples`` are sets of them with the words that stand above each.
    """
    name = page.plan.name
    runs = page.runs if is_joined else [Versions(version, version) for version in page.plan.valid]
    for run in runs:
        shown = tuple(each for words, found in samples for each in _shown(page, run, package, words, found))
        yield Part(run, boxes_of(page.plan, run.highest), package.bnf(name, run.highest), shown)


def _shown(page: MessagePage, run: Versions, package: Package, words: str, samples: Samples) -> Iterator[Shown]:
    """The samples of versions with one layout, each once for all neighbours that have it."""
    name = page.plan.name
    for sample, group in groupby(run, key=lambda version: samples.get((name, version))):
        versions = list(group)
        if sample is not None:
            own = Versions(versions[0], versions[-1])
            heading = words if own == run else f"{words}, {title_of(own).lower()}"
            yield Shown(own, inspect(package, framed(package, page.plan, own.highest, sample)), heading)


def _facts(plan: MessagePlan, message: Message, definitions: Definitions) -> Iterator[Fact]:
    says = _sayer(message, definitions.messages)
    if plan.api_key is not None:
        is_api = plan.kind in (REQUEST, RESPONSE)
        yield Fact("API key" if is_api else "Record type", str(plan.api_key), "apis.html" if is_api else "records.html")
    yield Fact("Versions", f"{plan.valid}{', the last one unstable' if says.latest_version_unstable else ''}")
    yield Fact("Flexible versions", str(plan.flexible.intersect(plan.valid)), "types.html#flexible")
    deprecated = says.deprecated.intersect(plan.valid)
    if not deprecated.empty:
        yield Fact("Deprecated versions", str(deprecated))
    if says.supported is not None and says.supported != plan.valid:
        yield Fact("Versions that are negotiated", str(says.supported))
    if plan.kind in (REQUEST, RESPONSE):
        yield Fact("Header", headers_text(plan.kind, plan.valid, header_versions(message)), "headers.html")
        yield from _pair(plan, definitions)
    if says.listeners:
        yield Fact("Listeners", ", ".join(says.listeners))
    topics = [topic for topic, folder in logs(definitions) if folder == definitions.folders[plan.name]]
    if topics and plan.kind in (COORDINATOR_KEY, COORDINATOR_VALUE, METADATA):
        yield Fact("Internal topic", ", ".join(topics), "records.html")
    yield Fact("Definition", plan.file)


def _facts_of_life(life: Life) -> Iterator[Fact]:
    """Since when the message is there, where that is known."""
    if life.since is not None:
        yield Fact("Since", life.since.since, life.since.link)
    if life.until is not None:
        yield Fact("Until", f"Kafka {life.until.name}", life.until.link)


def _sayer(message: Message, messages: Sequence[Message]) -> Message:
    """Of a pair the request says what holds for both."""
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
    """``RequestHeader 1 before versions 0-8, 2 before versions 9-13``, for the versions that there are."""
    name = "RequestHeader" if kind == REQUEST else "ResponseHeader"
    runs = header_runs(valid, pairs)
    return f"{name} {', '.join(f'{header} before {title_of(run).lower()}' for run, header in runs)}"


def header_runs(valid: Versions, pairs: HeaderVersions) -> Iterator[tuple[Versions, int]]:
    """The versions of a message that have one version of the header before them, and that."""
    ends = [first - 1 for first, _ in pairs[1:]] + [MAX_VERSION]
    for (first, header), end in zip(pairs, ends, strict=True):
        bodies = Versions(first, end).intersect(valid)
        if not bodies.empty:
            yield bodies, header
