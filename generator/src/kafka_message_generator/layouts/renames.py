"""Fields that have another name: told by standing at the same place of layouts that both sides understand."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kafka_message_generator.layouts.atoms import Atoms, Tags, layout_of
from kafka_message_generator.layouts.compare import difference
from kafka_message_generator.layouts.pairs import insides
from kafka_message_generator.plan.model import MessagePlan


def renamed(before: MessagePlan, after: MessagePlan, former: Collection[str], now: Collection[str]) -> dict[str, str]:
    """Paths of fields by their former ones, for those under a new name at the same place in a version of both.

    ``former`` and ``now`` are the paths of all fields: one that both sides have is no new name of another.
    """
    found: dict[str, str] = {}
    for version in before.valid:
        if version not in after.valid:
            continue
        one, two = layout_of(before, version), layout_of(after, version)
        if difference(one, two) is None and difference(two, one) is None:
            for was, path in _paired(one, two):
                if was not in now and path not in former and was.count(".") == path.count("."):
                    found[was] = path
    return {was: path for was, path in found.items() if last(was) != last(path)}


def _paired(one: Atoms, two: Atoms) -> Iterator[tuple[str, str]]:
    """The fields at the same places of two layouts without a difference: in the order of the wire, or by their tags."""
    for before, after in zip(one, two, strict=True):
        if not isinstance(before, Tags):
            yield before.label, after.label
    for former, now in insides(one, two):
        if not former.path.endswith("[]"):
            yield former.path, now.path
        yield from _paired(former.atoms, now.atoms)


def last(path: str) -> str:
    """The name of a field without the way to it."""
    return path.rpartition(".")[2]
