"""Preview versions in docs/guide/versions.md, compared with the definitions of every release."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.compat.compare import difference
from kafka_message_generator.compat.definition_sets import release_sets
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import REQUEST, RESPONSE

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"\| (`.*?`) \| (\d+) \| (\S+) to (\S+) \| .* \|")


def differs(plan: MessagePlan, ours: MessagePlan | None, version: int) -> bool:
    """Return whether ``ours`` cannot read what ``plan`` writes at a version."""
    if ours is None or version not in ours.valid:
        return True
    wrote, reads = signature_of(plan, version), signature_of(ours, version)
    return wrote != reads and difference(wrote, reads) is not None


def unread_versions() -> dict[tuple[str, int], tuple[str, str]]:
    """Return the released versions that the package cannot read, with their first and last release."""
    loaded = definitions.load(ROOT / "specs" / "kafka")
    names = {(each.kind, each.api_key): each.name for each in loaded.messages}
    plans = {plan.name: plan for plan in loaded.plans}
    found: dict[tuple[str, int], tuple[str, str]] = {}
    for side in release_sets(ROOT / "specs" / "history"):
        release = side.name.removeprefix("Kafka ")
        for name, plan in side.plans.items():
            message = side.messages[name]
            if message.kind in (REQUEST, RESPONSE):
                ours = plans.get(names.get((message.kind, message.api_key), name))
                for version in plan.valid:
                    if differs(plan, ours, version):
                        first, _ = found.get((name, version), (release, ""))
                        found[name, version] = (first, release)
    return found


def test_documented_preview_versions_are_those_that_the_package_cannot_read() -> None:
    text = (ROOT / "docs" / "guide" / "versions.md").read_text(encoding="utf-8")
    _, _, section = text.partition("### Unstable versions\n")
    documented = {
        (name, int(version)): (first, last)
        for names, version, first, last in ROW.findall(section.partition("\n## ")[0])
        for name in re.findall(r"`(\w+)`", names)
    }
    assert documented == unread_versions()
