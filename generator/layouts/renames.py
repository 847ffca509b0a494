"""Fields that have another name: told by standing at the same place of layouts that both sides understand."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kafka_message_generator.layouts.atoms import Atoms, Nullable, Repeated, Tags, layout_of
from kafka_message_generator.layouts.compare import difference
from kafka_message_generator.plan.model import MessagePlan


def renamed(before: MessagePlan, after: MessagePlan, gone: Collection[str]) -> dict[str, str]:
    """Paths of fields by their former ones, for those of ``gone`` that stand under another name in a version of both."""
    found: dict[str, str] = {}
    for version in before.valid:
        if version not in after.valid:
            continue
        one, two = layout_of(before, version), layout_of(after, version)
        if difference(one, two) is None and difference(two, one) is None:
            for former, path in _paired(one, two):
                if former in gone and former.count(".") == path.count("."):
                    found[former] = path
    return {former: path for former, path in found.items() if last(former) != last(path)}


def _paired(one: Atoms, two: Atoms) -> Iterator[tuple[str, str]]:
    """The fields at the same places of two layouts without a difference: in the order of the wire, or by their tags."""
    for before, after in zip(one, two, strict=True):
        if isinstance(before, Tags) and isinstance(after, Tags):
            known = {each.tag: each for each in after.fields}
            for each in before.fields:
                if each.tag in known:
                    yield each.label, known[each.tag].label
                    yield from _paired(each.value, known[each.tag].value)
            continue
        yield before.label, after.label
        if isinstance(before, Repeated) and isinstance(after, Repeated):
            yield from _paired(before.element, after.element)
        elif isinstance(before, Nullable) and isinstance(after, Nullable):
            yield from _paired(before.inside, after.inside)


def last(path: str) -> str:
    """The name of a field without the way to it."""
    return path.rpartition(".")[2]
