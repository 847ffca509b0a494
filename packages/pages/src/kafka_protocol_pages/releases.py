"""Release pages: changes to the protocol since the previous release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafka_message_generator.compat.availability import place
from kafka_message_generator.compat.changes import Changes, Differing
from kafka_message_generator.compat.compare import REASONS
from kafka_protocol_pages.fields import FieldRow, Wire, version_ranges
from kafka_protocol_pages.lifetimes import FOLDER, Release
from kafka_protocol_pages.message import KINDS, MessagePage


@dataclass(frozen=True)
class Changed:
    field: FieldRow
    was: str
    now: str


@dataclass(frozen=True)
class VersionChange:
    """A new version of a message, compared with the previous one; a restored version (``is_back``) is not compared."""

    page: MessagePage
    version: int
    added: tuple[FieldRow, ...]
    removed: tuple[FieldRow, ...]
    changed: tuple[Changed, ...]
    becomes_flexible: bool
    is_back: bool = False

    @property
    def is_unchanged(self) -> bool:
        return not (self.added or self.removed or self.changed or self.becomes_flexible)


@dataclass(frozen=True)
class Arrival:
    page: MessagePage
    versions: str
    unstable: Release | None = None
    """The first release that had one of the versions as unstable."""


@dataclass(frozen=True)
class LateFields:
    """Fields added to existing versions."""

    page: MessagePage
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True)
class Departure:
    """Versions of a message that a release dropped, and the fields dropped with them."""

    page: MessagePage
    dropped: tuple[int, ...]
    is_last: bool
    """True if the message has no versions left."""
    fields: tuple[FieldRow, ...]

    @property
    def versions(self) -> str:
        return version_ranges(self.dropped)


@dataclass(frozen=True)
class Broken:
    """Released versions of a message whose layout this release changed."""

    page: MessagePage
    versions: str
    was: str
    now: str
    why: str


@dataclass(frozen=True)
class ReleasePage:
    name: str
    before: str | None
    after: str | None
    is_empty: bool
    arrivals: tuple[Arrival, ...]
    defined: tuple[Arrival, ...]
    """Versions older than this release, which is the first to define them."""
    version_changes: tuple[VersionChange, ...]
    late: tuple[LateFields, ...]
    departures: tuple[Departure, ...]
    broken: tuple[Broken, ...]
    codes: tuple[str, ...]
    codes_gone: tuple[str, ...]
    codes_renamed: Mapping[str, str]

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.name}.html"

    @property
    def title(self) -> str:
        return f"Kafka {self.name}"

    @property
    def counts(self) -> tuple[int, ...]:
        return (
            len(self.arrivals),
            len(self.version_changes),
            sum(len(each.fields) for each in self.late),
            sum(len(each.dropped) for each in self.departures),
            len(self.codes),
            len(self.broken),
        )


def releases(changes: Sequence[Changes], messages: Iterable[MessagePage]) -> list[ReleasePage]:
    pages = {page.name: page for page in messages}
    names = [each.release for each in changes]
    after = dict(pairwise(names))
    return [_release(each, after.get(each.release), pages) for each in changes]


def _release(changes: Changes, after: str | None, pages: Mapping[str, MessagePage]) -> ReleasePage:
    arrivals = [_arrival(pages[name], changes.brought[name]) for name in sorted(changes.new)]
    defined = (Arrival(pages[name], version_ranges(versions)) for name, versions in sorted(changes.defined.items()))
    kinds = list(KINDS.values())
    return ReleasePage(
        changes.release,
        changes.before,
        after,
        changes.is_empty,
        tuple(sorted(arrivals, key=lambda each: kinds.index(each.page.kind))),
        tuple(defined),
        tuple(_version_changes(changes, pages)),
        tuple(_late(changes, pages)),
        tuple(_departures(changes, pages)),
        tuple(_broken(each, pages[each.message]) for each in changes.differing),
        changes.codes,
        changes.codes_gone,
        changes.codes_renamed,
    )


def _arrival(page: MessagePage, versions: Sequence[int]) -> Arrival:
    unstable = (page.lifetimes[version].unstable for version in versions if version in page.lifetimes)
    return Arrival(page, version_ranges(versions), next(filter(None, unstable), None))


def _version_changes(changes: Changes, pages: Mapping[str, MessagePage]) -> Iterator[VersionChange]:
    for name, versions in sorted(changes.brought.items()):
        if name not in changes.new:
            # Fields that a later release added to the version are listed on the page of the later release.
            later = {place(path) for path in changes.later.get(name, ())}
            back = changes.back.get(name, ())
            for version in versions:
                if version in back:
                    yield VersionChange(pages[name], version, (), (), (), becomes_flexible=False, is_back=True)
                else:
                    yield version_change(pages[name], version, later)


def version_change(page: MessagePage, version: int, later: Collection[str] = ()) -> VersionChange:
    """Compare a version of a message with the previous one.

    ``later`` has the normalized paths (``place``) of fields that a later release added to ``version``; ``added`` omits
    these fields.
    """
    before = version - 1
    becomes_flexible = version == page.plan.flexible.lowest
    there = [(field, field.wires.get(before), field.wires.get(version)) for field in page.fields]
    pairs = ((field, _words(was), _words(now)) for field, was, now in there if was is not None and now is not None)
    # Compact lengths are not listed field by field.
    plain = ((field, was.replace("COMPACT_", ""), now.replace("COMPACT_", "")) for field, was, now in pairs)
    return VersionChange(
        page,
        version,
        outermost(
            field for field, was, now in there if was is None and now is not None and place(field.path) not in later
        ),
        outermost(field for field, was, now in there if was is not None and now is None),
        tuple(Changed(field, was, now) for field, was, now in plain if was != now),
        becomes_flexible,
    )


def outermost(fields: Iterable[FieldRow]) -> tuple[FieldRow, ...]:
    found: dict[str, FieldRow] = {}
    for field in fields:  # structs precede their fields
        path = field.path
        if not any(path.startswith(f"{above}.") for above in found):
            found[path] = field
    return tuple(found.values())


def _words(wire: Wire) -> str:
    return ", ".join(filter(None, (wire.type, wire.note)))


def _late(changes: Changes, pages: Mapping[str, MessagePage]) -> Iterator[LateFields]:
    for name in sorted(changes.late):
        late = {place(path) for path in changes.late[name]}
        yield LateFields(pages[name], outermost(field for field in pages[name].fields if place(field.path) in late))


def _departures(changes: Changes, pages: Mapping[str, MessagePage]) -> Iterator[Departure]:
    for name, versions in sorted(changes.dropped.items()):
        page, is_last = pages[name], name in changes.gone
        fields = () if is_last else (field for field in page.fields if _is(field.lifetime.until, changes.release))
        yield Departure(page, versions, is_last, outermost(fields))


def _is(release: Release | None, name: str) -> bool:
    return release is not None and release.name == name


def _broken(differing: Differing, page: MessagePage) -> Broken:
    found = differing.difference
    return Broken(page, version_ranges(differing.versions), found.wrote, found.reads, REASONS[found.reason])
