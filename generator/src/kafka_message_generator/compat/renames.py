"""Renamed fields, found by their equal position in compatible layouts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kafka_message_generator.compat.compare import difference
from kafka_message_generator.compat.definition_sets import DefinitionSet
from kafka_message_generator.compat.signatures import Tags, WireSignature, insides, signature_of
from kafka_message_generator.plan.model import MessagePlan


def renamed(before: MessagePlan, after: MessagePlan, former: Collection[str], now: Collection[str]) -> dict[str, str]:
    """Map former paths to new ones, for fields at the same position in a version with compatible layouts.

    ``former`` and ``now`` are the paths of all fields of the two messages.
    """
    found: dict[str, str] = {}
    for version in before.valid:
        if version not in after.valid:
            continue
        one, two = signature_of(before, version), signature_of(after, version)
        if difference(one, two) is None and difference(two, one) is None:
            for was, path in _paired(one, two):
                if was not in now and path not in former and was.count(".") == path.count("."):
                    found[was] = path
    return {was: path for was, path in found.items() if last(was) != last(path)}


def _paired(one: WireSignature, two: WireSignature) -> Iterator[tuple[str, str]]:
    for before, after in zip(one, two, strict=True):
        if not isinstance(before, Tags):
            yield before.label, after.label
    for former, now in insides(one, two):
        if not former.path.endswith("[]"):
            yield former.path, now.path
        yield from _paired(former.signature, now.signature)


def last(path: str) -> str:
    return path.rpartition(".")[2]


def renames(name: str, before: DefinitionSet, after: DefinitionSet) -> dict[str, str]:
    former, now = ({path for path, _ in side.members(name)} for side in (before, after))
    return renamed(before.plans[name], after.plans[name], former, now) if former - now else {}


def path_now(path: str, renames: Mapping[str, str]) -> str:
    for former, now in sorted(renames.items(), key=lambda item: -len(item[0])):
        if path == former or path.startswith((f"{former}.", f"{former}[]")):
            return now + path[len(former) :]
    return path
