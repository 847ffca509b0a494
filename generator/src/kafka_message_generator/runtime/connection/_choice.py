"""Selection of the highest request version that loses no field."""

from __future__ import annotations

from functools import lru_cache

from .._core.value import dataclass
from .._core.wire import WRITE_FAILURES
from ..protocol._negotiation import common_versions
from ..schema.build import SchemaBuilder
from ..schema.descriptors import descriptor_of
from ..schema.struct import is_default
from ..schema.types import SchemaError
from ._events import LocalProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._base.message import Message
    from ..protocol import Api, BrokerVersions
    from ..schema.descriptors import FieldDescriptor

_NO_VERSION = -1
_MOST_SHOWN = 3  # lost fields listed in an error message


# Field, its default, highest lower version that may have the field (or -1), equivalent field (or ""), default of that.
Absent = tuple[str, object, int, str, object]


@dataclass(frozen=True, slots=True)
class VersionPlan:

    absent: tuple[Absent, ...]
    not_null: tuple[str, ...]
    refuses_tags: bool
    structs: tuple[tuple[str, bool, VersionPlan], ...]
    version: int

    def names(self) -> set[str]:
        inner = (plan.names() for _, _, plan in self.structs)
        return {"unknown_tagged_fields", *self.not_null}.union((each[0] for each in self.absent), *inner)


class VersionChoices:

    __slots__ = ("api", "broker", "fields", "kind", "plan", "unmet", "versions")

    def __init__(self, api: Api, broker: BrokerVersions | None, set_fields: Iterable[str] = ()) -> None:
        self.api = api
        kind: Any = api.request_class
        self.kind = kind
        self.broker = broker
        restrictions = [each for each in api.restrictions if each.field is None or each.field in set_fields]
        self.fields = tuple(each.field for each in api.restrictions if each.field is not None)
        self.versions = (api.stable_versions.highest,) if broker is None else common_versions(broker, api, restrictions)
        self.unmet = [each for each in restrictions if each.versions.highest not in self.versions]
        highest = self.versions[0]
        self.plan = plan_of(self.kind, highest, highest, False)

    def best_version(self, request: Message) -> int:
        highest = self.versions[0]
        version: int | None = highest
        while version is not None:
            plan = plan_of(self.kind, version, highest, True)
            limit = None if plan is None else limit_of(plan, request)
            if limit is None:
                return version
            version = next((each for each in self.versions if each <= limit), None)
        raise self._all_lose(request)

    def _all_lose(self, request: Message) -> LocalProtocolError:
        highest, lowest = self.versions[0], self.versions[-1]
        plan = plan_of(self.kind, highest, highest, True)
        names = set() if plan is None else plan.names()
        losses = [each for each in request.unsupported_fields(highest) if each.path.rpartition(".")[2] in names]
        causes = [f"{each.path} ({each.reason})" for each in losses or request.unsupported_fields(highest)]
        if len(causes) > _MOST_SHOWN:
            causes[_MOST_SHOWN:] = [f"{len(causes) - _MOST_SHOWN} more"]
        unmet = "".join(f"; {each}" for each in self.unmet)
        restricted = ", or pass a restricted version" if unmet else ""
        return LocalProtocolError(
            f"{self.api.request_name}: none of the versions {lowest} to {highest} can carry the whole request{unmet}; "
            f"{highest} cannot carry {', '.join(causes)}; clear these fields, or drop them with lossy=True{restricted}"
        )


@lru_cache(maxsize=1024)
def plan_of(cls: type[Any], version: int, newest: int, with_refused: bool) -> VersionPlan | None:
    return _VersionPlanner(cls, version, newest, with_refused).plan(descriptor_of(cls).fields)


def limit_of(plan: VersionPlan, request: Message) -> int | None:
    """Return the highest lower version to try, -1 if there is none; None for no loss, or for an invalid request."""
    try:
        return _limit(plan, request)
    except (SchemaError, *WRITE_FAILURES):
        return None


def _limit(plan: VersionPlan, struct: Any) -> int | None:
    for name, default, limit, instead, its_default in plan.absent:
        value = getattr(struct, name)
        if value is default:
            continue
        try:
            if is_default(value, default):
                continue
        except SchemaError:
            return limit
        if not instead or is_default(getattr(struct, instead), its_default):
            return limit
    for name in plan.not_null:
        if getattr(struct, name) is None:
            return plan.version - 1
    if plan.refuses_tags and struct.unknown_tagged_fields:
        return _NO_VERSION
    for name, is_array, inner in plan.structs:
        value = getattr(struct, name)
        if value:  # neither null nor an empty array
            for each in value if is_array else (value,):
                found = _limit(inner, each)
                if found is not None:
                    return found
    return None


class _VersionPlanner:
    def __init__(self, cls: type[Any], version: int, newest: int, with_refused: bool) -> None:
        self.descriptor = descriptor_of(cls)
        self.version = version
        self.newest = newest
        self.with_refused = with_refused
        self.builder = SchemaBuilder(self.descriptor)
        has_tags = version in self.descriptor.flexible or version in self.descriptor.with_optional
        self.refuses_tags = with_refused and not has_tags

    def plan(self, fields: tuple[FieldDescriptor, ...]) -> VersionPlan | None:
        absent, not_null, structs = [], [], []
        for field in fields:
            if self.version not in field.versions:
                if (found := self.absent(field, fields)) is not None:
                    absent.append(found)
                continue
            may_be_null = field.nullable.lowest <= field.nullable.highest
            if self.with_refused and may_be_null and self.version not in field.nullable:
                not_null.append(field.name)
            if field.is_struct and (inner := self.plan(field.fields)) is not None:
                structs.append((field.name, field.is_array, inner))
        if not (absent or not_null or structs or self.refuses_tags):
            return None
        return VersionPlan(tuple(absent), tuple(not_null), self.refuses_tags, tuple(structs), self.version)

    def absent(self, field: FieldDescriptor, beside: tuple[FieldDescriptor, ...]) -> Absent | None:
        instead = next((each for each in beside if self.says_the_same(each, field)), None) if field.ignorable else None
        is_too_new = field.ignorable and instead is None and field.versions.lowest > self.newest
        if is_too_new or not (field.ignorable or self.with_refused):
            return None
        limit = field.versions.highest if field.versions.highest < self.version else _NO_VERSION
        default = self.builder.default(field)
        if instead is None:
            return field.name, default, limit, "", None
        return field.name, default, limit, instead.name, self.builder.default(instead)

    def says_the_same(self, other: FieldDescriptor, field: FieldDescriptor) -> bool:
        if self.version not in other.versions:
            return False
        ours, theirs = field.versions, other.versions
        if ours.highest + 1 == theirs.lowest or theirs.highest + 1 == ours.lowest:
            return True
        return field.type == "uuid" and field.name == "topic_id" and other.entity_type == "topicName"
