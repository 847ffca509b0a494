"""Whole definitions judged by Kafka's generator and by ours; accepted ones are built and used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from kafka_message_generator.spec.source import SpecError
from tests.support.building import Workshop, check
from tests.support.outside import VECTORS, needs

OWN = Path(__file__).parent / "probes.jsonl"
SHARED = VECTORS / "spec-probes.jsonl"

# Intended deviations from Kafka: our verdict and the reason.
DEVIATIONS = {
    "m_apikey_float": ("refuses", "1.9 would silently be 1"),
    "m_name_lower": ("refuses", "Kafka's Java does not compile; here it would be a class with a small letter"),
    "f_type_struct_undefined": ("refuses", "Kafka makes an empty class of a typing error"),
    "f_type_boolean": ("accepts", "the word of older definitions for bool"),
    "f_fields_on_int_array": ("refuses", "Kafka ignores the fields, so the author is misunderstood"),
    "f_dup_name_case": ("refuses", "Kafka's Java does not compile; in Python both would be one attribute"),
    "f_tag_zerocopy": ("accepts", "sound on the wire; only Kafka's Java does not compile"),
    "f_about_newline": ("accepts", "a description is escaped here; Kafka's Java does not compile"),
    "s_common_about": ("accepts", "our definitions describe their structs"),
    "d_i8_0x-1": ("refuses", "no literal; Kafka's Java does not compile"),
    "d_u32_max": ("accepts", "in range; Kafka prints it as an int literal, which does not compile"),
    "d_str_quote": ("accepts", "a default is escaped here; Kafka's Java does not compile"),
    "d_uuid_dashed": ("refuses", "passes Kafka's generator and fails when the class is first used"),
    "d_rec_x": ("refuses", "Kafka ignores the default of records"),
    "d_rec_null": ("refuses", "Kafka ignores the default of records, and this field is not nullable"),
    "r_trailing_comma": ("accepts", "nothing is lost by a comma too many"),
    "r_dup_key": ("refuses", "one of two different values would silently win"),
}


@cache
def probes(path: Path, name: str) -> dict[str, Mapping[str, str]]:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({row[name] for row in rows}) == len(rows)
    return {row[name]: row for row in rows}


own, shared = probes(OWN, "case"), probes(SHARED, "case")
needs_shared = needs(
    SHARED,
    "142 definitions with the verdict of Kafka's own generator",
    "tests/generator/probes.jsonl has ours, with both verdicts",
)


def verdict(definition: str) -> str:
    try:
        check(definition)
    except SpecError:
        return "refuses"
    return "accepts"


def use(workshop: Workshop, definition: str) -> None:
    """Generate, format and import a message, and write its default in every version."""
    message = workshop.add(definition, is_formatted=True)
    default = message()
    for version in range(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION + 1):
        data = default.write(version)
        assert message.read(data, version) == default
        assert default.size(version) == len(data)
        schema_data = bytearray()
        message.schemas()[version].write(schema_data, default)
        assert schema_data == data


@pytest.mark.parametrize("case", own)
def test_own_probe_has_the_recorded_verdict(case: str) -> None:
    assert verdict(own[case]["definition"]) == own[case]["ours"]


@pytest.mark.parametrize("case", [case for case in own if own[case]["ours"] == "accepts"])
def test_accepted_own_probe_is_built_and_written(case: str, workshop: Workshop) -> None:
    use(workshop, own[case]["definition"])


def test_own_probes_have_a_reason() -> None:
    assert all(row["reason"] and row["ours"] in ("accepts", "refuses") for row in own.values())
    assert {row["kafka"] for row in own.values()} == {"accepts", "refuses", "miscompiles"}


def kafkas_verdict(case: str) -> str:
    outcome = shared[case]["outcome"]
    return "miscompiles" if "does not compile" in outcome else {"accepted": "accepts", "rejected": "refuses"}[outcome]


@needs_shared
@pytest.mark.parametrize("case", shared)
def test_shared_probe_verdict_equals_kafka_or_a_listed_deviation(case: str) -> None:
    ours, reason = DEVIATIONS.get(case, (kafkas_verdict(case), "as Kafka"))
    assert (case, verdict(shared[case]["spec_text"])) == (case, ours), reason


@needs_shared
def test_listed_deviations_from_kafka_still_exist() -> None:
    assert [case for case, (ours, _) in DEVIATIONS.items() if kafkas_verdict(case) == ours] == []


@needs_shared
@pytest.mark.parametrize("case", [case for case in shared if verdict(shared[case]["spec_text"]) == "accepts"])
def test_accepted_shared_probe_is_built_and_written(case: str, workshop: Workshop) -> None:
    use(workshop, shared[case]["spec_text"])
