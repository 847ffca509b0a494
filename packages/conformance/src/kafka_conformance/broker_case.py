"""Cases for brokers: written by hand, and generated from one request per API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from kafka_messages.errors import did_you_mean
from kafka_messages.protocol import Api, apis

from .case import Case, CaseError, group_of, rows

Access: TypeAlias = Literal["read", "own", "cluster"]
"""What requests may change: nothing; topics, groups and ids with the run's prefix; anything."""
ACCESS: tuple[Access, ...] = ("read", "own", "cluster")
Versions: TypeAlias = int | Sequence[int]
"""A version, or the lowest and highest of a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAs:
    """How to decode the response to raw bytes."""

    api: str
    version: int
    fallback: bool = False
    """Read version 0 if the error code is UNSUPPORTED_VERSION (KIP-511)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """A request, or raw bytes."""

    api: str = ""
    version: Versions = 0
    message: Mapping[str, Any] = field(default_factory=dict)
    raw: str | None = None
    """Whole frames in hexadecimal, in place of an API; empty for a response that earlier bytes asked for."""
    read_as: ReadAs | None = None
    correlation_id: int | None = None
    pieces: int = 0
    """Bytes per packet; 0 for all at once."""
    connection: str = "a"
    """Any name; ``$leader`` is the address of the leader in Metadata, ``$notLeader`` another broker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStep:
    """Part of an exchange; ``docs/conformance-brokers.md`` explains each key."""

    send: Send | None = None
    expect: Any = None
    """Pattern of the response, ``closed``, ``nothing``, or None to read it in a later step."""
    errors: Sequence[int] | None = None
    """Error codes that the response may have, wherever they are."""
    save: Mapping[str, str] = field(default_factory=dict)
    retry: Sequence[int] = ()
    wait: int = 0
    """Milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerCase(Case):
    """Requests to a broker, and what the responses must be."""

    mode: ClassVar[str] = "broker"
    access: Access
    steps: Sequence[CaseStep] = ()
    setup: Sequence[str] = ()
    cleanup: Sequence[CaseStep] = ()
    features: Mapping[str, int] = field(default_factory=dict)
    """Least finalized levels of features."""
    note: str = ""
    """Differences between releases of Kafka, or a remark."""
    missing: str = ""
    """Reason why no request is sent."""

    def description(self) -> list[str]:
        lines = [*Case.description(self), f"class     {self.access}"]
        lines += [f"note      {self.note}"] * bool(self.note)
        lines += [f"setup     {', '.join(self.setup)}"] * bool(self.setup)
        for each in self.steps:
            if each.send is not None:
                sent = (
                    each.send.raw
                    if each.send.raw is not None
                    else f"{each.send.api} {each.send.version} {json.dumps(each.send.message)}"
                )
                lines.append(f"send      {sent}")
            if each.expect is not None:
                lines.append(f"expect    {json.dumps(each.expect)}")
        return lines


_KEYS = {"read_as": "as", "correlation_id": "correlationId", "access": "class"}
T = TypeVar("T")


def built(cls: type[T], row: Mapping[str, Any], where: str) -> T:
    """Return an instance of a dataclass. Raises CaseError with the place of an unknown or missing key."""
    known = {_KEYS.get(each.name, each.name): each for each in fields(cls)}  # type: ignore[arg-type]  # a dataclass
    if unknown := next((key for key in row if key not in known), None):
        raise CaseError(f"{where}: unknown key {unknown!r}{did_you_mean(unknown, known)}")
    for key, each in known.items():
        if each.default is MISSING and each.default_factory is MISSING and key not in row:
            raise CaseError(f"{where}: the key {key!r} is missing")
    return cls(**{known[key].name: _nested(key, value, f"{where}: {key}") for key, value in row.items()})


def _nested(key: str, value: Any, where: str) -> Any:
    if key in ("steps", "cleanup"):
        return [built(CaseStep, each, f"{where}[{index}]") for index, each in enumerate(value)]
    cls: type[Any] | None = {"send": Send, "as": ReadAs}.get(key)
    return value if cls is None else built(cls, value, where)


def written_broker_cases() -> Iterator[BrokerCase]:
    """Yield the cases of ``cases/broker.jsonl``. Raises CaseError."""
    for number, row in enumerate(rows("broker"), 1):
        yield built(BrokerCase, row, f"cases/broker.jsonl:{number}")


def _data(name: str) -> Any:
    return json.loads(files(__package__).joinpath("cases", name).read_text(encoding="utf-8"))


@cache
def access_of_apis() -> dict[str, Access]:
    """Return the class of each API, by name."""
    return {name: access for access, names in _data("apis.json").items() for name in names}


def access_of(case: BrokerCase) -> Access:
    """Return the class that the requests of a case need."""
    found = {access_of_apis()[each.send.api] for each in case.steps if each.send is not None and each.send.api}
    found |= {"own"} if case.setup else set()
    return max(found, key=ACCESS.index, default="read")


def request_cases() -> Iterator[BrokerCase]:
    """Yield a case for each API and version, with the request of ``cases/requests.json``. Raises CaseError."""
    templates = _data("requests.json")
    for api in apis():
        row, group, versions = templates.get(api.name, {}), group_of(api.name), api.stable_versions
        if "message" in row and versions:
            yield from (_request_case(api, version, row) for version in range(versions.lowest, versions.highest + 1))
            continue
        yield BrokerCase(
            id=f"{group}.answers",
            rule=f"{api.name} is answered.",
            source=f"{api.request_name}.json",
            access=access_of_apis()[api.name],
            missing=row.get("missing", "there is no request for this API"),
        )


def _request_case(api: Api, version: int, row: Mapping[str, Any]) -> BrokerCase:
    send = Send(api=api.name, version=version, message=row["message"])
    answered = CaseStep(send=send, expect={}, errors=row.get("errors", [0]), retry=row.get("retry", ()))
    before, after = ([built(CaseStep, each, api.name) for each in row.get(key, ())] for key in ("before", "cleanup"))
    case = BrokerCase(
        id=f"{group_of(api.name)}.answers-{version}",
        rule=f"{api.name} {version} is answered in this version, with an expected error code.",
        source=f"{api.request_name}.json, {api.response_name}.json",
        access="read",
        setup=row.get("setup", ()),
        steps=[*before, answered],
        cleanup=after,
        missing=row["why"] if version < row.get("from", 0) else "",
    )
    return replace(case, access=access_of(case))


def broker_cases() -> Iterator[BrokerCase]:
    """Yield all cases: written by hand, then one per API and version. Raises CaseError."""
    yield from written_broker_cases()
    yield from request_cases()
