"""Indexes across all messages: kinds, APIs, entities, errors, tags, records, headers, enumerations; the search index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.render import tables
from kafka_message_generator.rules.headers import REQUEST_HEADER, RESPONSE_HEADER, HeaderVersions
from kafka_message_generator.rules.settings import HERE
from kafka_message_generator.spec.enumerations import ERROR_CODE, Member
from kafka_message_generator.spec.error_codes import ErrorCode
from kafka_message_generator.spec.model import HEADER
from kafka_message_generator.spec.versions import Versions
from kafka_protocol_pages.fields import FieldRow, title_of
from kafka_protocol_pages.lifetimes import Lifetime, Lifetimes
from kafka_protocol_pages.message import KINDS, Fact, MessagePage, header_runs
from kafka_protocol_pages.prose import Prose


@dataclass(frozen=True)
class MessageGroup:
    kind: str
    messages: tuple[MessagePage, ...]


@dataclass(frozen=True)
class Holder:
    message: str
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True)
class EntityEntry:
    name: str
    id: str
    about: str
    holders: tuple[Holder, ...]


@dataclass(frozen=True)
class ApiRow:
    key: int
    name: str
    messages: tuple[str, ...]
    versions: str
    note: str
    listeners: str
    request_headers: str
    response_headers: str


@dataclass(frozen=True)
class RecordRow:
    number: int
    key: Fact
    value: Fact


@dataclass(frozen=True)
class Family:
    title: str
    id: str
    about: str
    records: tuple[RecordRow, ...]


@dataclass(frozen=True)
class KipEntry:
    number: int
    versions: tuple[tuple[MessagePage, int], ...]


@dataclass(frozen=True)
class CodeRow:
    code: int
    hex: str
    name: str
    retriable: str
    about: str
    lifetime: Lifetime
    former_names: tuple[str, ...]


@dataclass(frozen=True)
class EnumerationTable:
    name: str
    about: str
    note: str
    """Source of the values; also says if other values have no special meaning."""
    members: tuple[Member, ...]
    holders: tuple[Holder, ...]


_ENTITIES = {
    "brokerId": ("Broker id", "The node id of a broker or controller."),
    "clientId": ("Client id", "The client id in the header of requests."),
    "clientMetrics": ("Client metrics", "The name of a client metrics subscription."),
    "clusterId": ("Cluster id", "The id of a cluster."),
    "delegationToken": ("Delegation token", "The id of a delegation token."),
    "groupId": ("Group id", "The name of a consumer, share or streams group."),
    "principal": ("Principal", "The principal of an ACL: type and name, such as User:ann."),
    "producerId": ("Producer id", "The id that the cluster assigns to an idempotent or transactional producer."),
    "rack": ("Rack", "The rack or zone of a broker or client."),
    "shareKey": ("Share key", "A partition of a share group: group, topic id and partition, separated by colons."),
    "topicName": ("Topic name", "The name of a topic."),
    "transactionalId": ("Transactional id", "The transactional id of a producer."),
    "user": ("User", "A user name, without the type of a principal."),
    "topicId": (
        "Topic id",
        "The UUID of a topic; sixteen zero bytes mean none. "
        "Definitions do not declare topic ids: these are the UUID fields with that name.",
    ),
}


def groups(messages: Sequence[MessagePage]) -> list[MessageGroup]:
    by_kind = ((kind, tuple(page for page in messages if page.kind == kind)) for kind in KINDS.values())
    return [MessageGroup(kind, found) for kind, found in by_kind if found]


def holders(messages: Iterable[MessagePage], fields: Iterable[Iterable[FieldRow]]) -> tuple[Holder, ...]:
    found = (Holder(page.name, tuple(chosen)) for page, chosen in zip(messages, fields, strict=True))
    return tuple(each for each in found if each.fields)


def entities(messages: Sequence[MessagePage]) -> list[EntityEntry]:
    found = []
    for entity, (name, about) in _ENTITIES.items():
        chosen = ([field for field in page.fields if entity in field.entities and field.wires] for page in messages)
        found.append(EntityEntry(name, entity, about, holders(messages, chosen)))
    return [each for each in found if each.holders]


def tags(messages: Sequence[MessagePage]) -> list[Holder]:
    return list(holders(messages, ([field for field in page.fields if field.tag is not None] for page in messages)))


def apis(definitions: Definitions) -> list[ApiRow]:
    """Return the APIs in the order of their keys, including removed APIs."""
    there = {plan.name for plan in definitions.plans}
    return [_api(each, there) for each in tables.apis(definitions)]


def _api(api: tables.ApiEntry, there: set[str]) -> ApiRow:
    valid, supported, deprecated = api.valid, api.supported, api.deprecated
    notes = [] if deprecated.empty else [f"{title_of(deprecated).lower()} deprecated"]
    notes += ["last version unstable"] if api.latest_version_unstable and not supported.empty else []
    if valid != supported:
        notes.append(f"{title_of(valid).lower()} in older releases")
    pairs = ((api.request, api.request_headers), (api.response, api.response_headers))
    headers = [_headers(valid, header) if name else "" for name, header in pairs]
    return ApiRow(
        key=api.key,
        name=api.request.removesuffix("Request"),
        messages=tuple(name for name in (api.request, api.response) if name in there),
        versions="removed" if supported.empty else str(supported),
        note=", ".join(notes),
        listeners=", ".join(api.listeners),
        request_headers=headers[0],
        response_headers=headers[1],
    )


def _headers(valid: Versions, pairs: HeaderVersions) -> str:
    found = [(run.lowest, header) for run, header in header_runs(valid, pairs)]
    return ", ".join(
        f"{header} from version {first}" if number else str(header) for number, (first, header) in enumerate(found)
    )


def records(definitions: Definitions) -> list[Family]:
    found: dict[str, list[tables.RecordTypeEntry]] = {}
    for record in tables.record_types(definitions):
        found.setdefault(record.family, []).append(record)
    topics = {folder: topic for topic, folder in tables.logs(definitions)}
    return [_family("" if folder == HERE else folder, topics, each) for folder, each in found.items()]


def _family(folder: str, topics: dict[str, str], found: list[tables.RecordTypeEntry]) -> Family:
    rows = tuple(RecordRow(each.number, _message(each.key), _message(each.value)) for each in found)
    about = "Three varints precede each record: frame version, type and version."
    if any(each.key for each in found):
        about = "The key starts with the record type, the value with the version of the value; both are int16."
    return Family(topics.get(folder, folder or "Records"), folder or "records", about, rows)


def _message(name: str | None) -> Fact:
    return Fact("", name or "", f"messages/{name}.html" if name else "")


def headers(definitions: Definitions, messages: Sequence[MessagePage]) -> dict[str, object]:
    """Return the header pages and the header versions of each API; empty without headers or APIs."""
    found = [page for page in messages if page.plan.kind == HEADER and page.name in (REQUEST_HEADER, RESPONSE_HEADER)]
    rows = [row for row in apis(definitions) if row.messages]
    # The page states Kafka's header rules only for definitions of a Kafka release.
    is_kafkas = definitions.release is not None
    return {"headers": found, "apis": rows, "is_kafkas": is_kafkas} if found and rows else {}


def errors(definitions: Definitions, messages: Sequence[MessagePage], lifetimes: Lifetimes) -> dict[str, object]:
    codes = [_code(code, lifetimes) for code in definitions.error_codes]
    chosen = ([field for field in page.fields if field.enumeration == ERROR_CODE] for page in messages)
    return {"codes": codes, "holders": holders(messages, chosen), "has_lifetimes": lifetimes.is_known}


def _code(code: ErrorCode, lifetimes: Lifetimes) -> CodeRow:
    retriable = "yes, after a metadata update" if code.retriable and code.refresh else "yes" if code.retriable else ""
    lifetime, code_bytes = lifetimes.code(code.code), code.code.to_bytes(2, "big", signed=True).hex(" ")
    return CodeRow(code.code, code_bytes, code.name, retriable, code.about, lifetime, lifetimes.former_names(code.code))


def kips(messages: Sequence[MessagePage]) -> list[KipEntry]:
    """Return the KIPs, highest number first, with the message versions that belong to each."""
    found: dict[int, list[tuple[MessagePage, int]]] = {}
    for page in messages:
        for version, numbers in sorted(page.kips.items()):
            for number in numbers:
                found.setdefault(number, []).append((page, version))
    return [KipEntry(number, tuple(versions)) for number, versions in sorted(found.items(), reverse=True)]


def enumerations(definitions: Definitions, messages: Sequence[MessagePage]) -> list[EnumerationTable]:
    found = []
    for one in definitions.enumerations:
        if one.members:
            chosen = [[field for field in page.fields if field.enumeration == one.name] for page in messages]
            members = tuple(sorted(one.members, key=lambda member: member.value))
            others = "Other values have no special meaning." if one.is_special else ""
            source = f"Source: {one.source}." if one.source else ""
            note = " ".join(filter(None, (others, source)))
            found.append(EnumerationTable(one.name, one.about, note, members, holders(messages, chosen)))
    return found


def places(pages: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, kind, link and keywords of the entries of general pages; ``pages`` has their data by path."""
    for api in pages.get("apis.html", {}).get("apis", ()):
        yield f"API key {api.key}", api.name, f"apis.html#key-{api.key}", ""
    for kip in pages.get("kips.html", {}).get("kips", ()):
        yield f"KIP-{kip.number}", "versions of a proposal", f"kips.html#KIP-{kip.number}", ""
    for family in pages.get("records.html", {}).get("families", ()):
        yield family.title, "records of an internal topic", f"records.html#{family.id}", ""
    for format_ in pages.get("batches.html", {}).get("formats", ()):
        yield f"Magic {format_.magic}", "format of record batches", f"batches.html#magic-{format_.magic}", ""
    for group, rows in pages["types.html"]["types"].items():
        for row in rows:
            yield row.name, "type", f"types.html#{group.lower().replace(' ', '-')}", row.about
    yield "Flexible versions", "compact lengths, tagged fields", "types.html#flexible", ""


def search_index(
    messages: Sequence[MessagePage],
    definitions: Definitions,
    pages: Mapping[str, str],
    found_places: Iterable[tuple[str, str, str, str]],
    prose: Prose,
    releases: Sequence[str] = (),
) -> str:
    """Return the search index as a script that defines a constant; ``pages`` has titles by path."""
    found = {
        "messages": [[page.name, _kind_text(page), " ".join(field.path for field in page.fields)] for page in messages],
        "errors": [[code.code, code.name] for code in definitions.error_codes],
        "enumerations": [
            [one.name, " ".join(member.name for member in one.members)]
            for one in definitions.enumerations
            if one.members
        ],
        "releases": list(releases),
        "pages": [[title, path] for path, title in pages.items()],
        "places": list(found_places),
        "prose": [[page.title, page.path, [[title, slug] for _, slug, title in page.headings]] for page in prose.pages],
    }
    return f"const SEARCH = {json.dumps(found, separators=(',', ':'), ensure_ascii=True)};\n"


def _kind_text(page: MessagePage) -> str:
    key = "" if page.plan.api_key is None else f", key {page.plan.api_key}"
    return f"{page.kind}{key}, versions {page.plan.valid}"
