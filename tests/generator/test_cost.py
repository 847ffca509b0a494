"""Size of messages under each integer encoding: small definitions, Kafka's vectors, errors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages_proposals import MetadataFixed, MetadataPacked, MetadataUpacked
from kafka_messages_proposals.messages import metadata_fixed, metadata_packed, metadata_upacked

from kafka_message_generator import definitions
from kafka_message_generator.cost import (
    FORMS,
    Cost,
    CostError,
    CostSample,
    FieldCost,
    Totals,
    cost,
    encoded_size,
    histogram,
)
from kafka_message_generator.runtime.schema.encodings import ENCODINGS
from tests.support.building import Definition, plan_of
from tests.support.costs import PROBE, V2, V2_TAGGED
from tests.support.specs import field, message
from tests.support.vectors import COMMITTED

ROOT = Path(__file__).parents[2]


def cost_of(definition: Definition, version: int, *samples: str) -> Cost:
    return cost(plan_of(definition), version, [CostSample(bytes.fromhex(each), version) for each in samples])


def test_message_with_tagged_fields_has_costs_by_field_and_in_total() -> None:
    found = cost_of(PROBE, 2, V2_TAGGED)
    whole = len(V2_TAGGED) // 2
    assert found == Cost(
        "Probe",
        2,
        1,
        (
            FieldCost("a", "int16", "fixed16", 1, 2, 2, 1, 3, "packed", 2 / whole),
            FieldCost("b", "int32", "packed32", 1, 2, 4, 2, 1, "upacked", 2 / whole),
            FieldCost("pieces[].x", "int64", "fixed64", 2, 16, 16, 3, 12, "packed", 16 / whole),
            FieldCost("t[]", "int32", "fixed32", 3, 12, 12, 4, 3, "upacked", 12 / whole),
        ),
        Totals(whole, whole + 2, whole - 1 - 13 - 8, whole + 1 - 1 - 4 - 9, whole - 1 - 1 - 13 - 9),
    )
    # The text, two counts, flags, and tag sections with tag, size and count.
    assert found.other == whole - 2 - 2 - 16 - 12 == 3 + 1 + 2 * 2 + 4


def test_fields_absent_from_the_version_are_omitted() -> None:
    found = cost_of(PROBE, 0, "0001" "00000002" "0000" "ffffffff" "00000003")
    assert [(each.path, each.encoding, each.values, each.smallest) for each in found.fields] == [
        ("a", "fixed16", 1, "packed"),
        ("b", "fixed32", 1, "packed"),
        ("pieces[].x", "fixed64", 0, None),
        ("old", "fixed32", 1, "packed"),
    ]
    assert astuple(found.totals) == (16, 16, 9, 9, 9)


def test_costs_of_two_samples_are_summed() -> None:
    one, two, both = cost_of(PROBE, 2, V2 + "00"), cost_of(PROBE, 2, V2_TAGGED), cost_of(PROBE, 2, V2 + "00", V2_TAGGED)
    assert both.samples == 2
    assert [each.values for each in both.fields] == [2, 2, 4, 3]
    for name in ("defined", "fixed", "packed", "upacked"):
        assert getattr(both.totals, name) == getattr(one.totals, name) + getattr(two.totals, name)


def test_tag_size_prefix_depends_on_the_encoding() -> None:
    probe = message(field("T", "[]int64", "2+", tag=0, taggedVersions="2+"), validVersions="2")
    found = cost_of(probe, 2, "01" "00a101" "15" + "0000000000000007" * 20)
    assert astuple(found.fields[0])[3:8] == (20, 160, 160, 20, 20)
    assert astuple(found.totals) == (165, 165, 24, 24, 24)


def test_narrowed_field_is_compared_with_its_declared_type() -> None:
    probe = message(field("A", "int64", encoding="fixed16"), flexibleVersions="none")
    assert astuple(cost_of(probe, 0, "0003").fields[0])[2:8] == ("fixed16", 1, 2, 8, 1, 1)
    assert astuple(cost_of(probe, 0, "ffff").fields[0])[2:8] == ("fixed16", 1, 2, 8, 1, 10)


def test_array_elements_use_the_element_encoding() -> None:
    probe = message(field("A", "[]int32", elementEncoding="upacked32"), flexibleVersions="none")
    found = cost_of(probe, 0, "00000002" "05" "ffffffff0f")
    assert astuple(found.fields[0])[:8] == ("a[]", "int32", "upacked32", 2, 6, 8, 2, 6)
    assert astuple(found.totals) == (10, 12, 6, 10, 6)


def test_all_paths_to_a_struct_share_the_smallest_encoding() -> None:
    probe = message(
        field("One", "Shared"),
        field("Many", "[]Shared"),
        commonStructs=[{"name": "Shared", "versions": "0+", "fields": [field("X")]}],
        flexibleVersions="none",
    )
    found = cost_of(probe, 0, "00000064" "00000002" "ffffffff" "fffffffe")
    assert [(each.path, each.packed, each.upacked, each.smallest) for each in found.fields] == [
        ("one.x", 2, 1, "packed"),
        ("many[].x", 2, 10, "packed"),
    ]
    assert astuple(found.totals) == (16, 16, 8, 15, 8)


def test_equal_sizes_choose_the_simpler_encoding() -> None:
    probe = message(field("A", "int16"), field("B", "int16"), flexibleVersions="none")
    assert [each.smallest for each in cost_of(probe, 0, "0100" "0001").fields] == ["fixed", "packed"]


def test_optional_fields_are_counted_in_versions_with_buffers() -> None:
    probe = message(
        field("A"),
        versionsWithOptional="2+",
        optionalFields=[{"name": "B", "type": "int64", "tag": "0x0001", "about": ""}],
        flexibleVersions="none",
    )
    found = cost_of(probe, 2, "10" "0001" "0000000000000005" "00" "00000009")
    assert [(each.path, each.values) for each in found.fields] == [("a", 1), ("b", 1)]
    assert astuple(found.totals) == (16, 16, 6, 6, 6)
    assert [each.path for each in cost_of(probe, 1, "00000009").fields] == ["a"]


def test_overlong_varint_is_counted_at_its_canonical_size() -> None:
    probe = message(field("A", encoding="packed32"), flexibleVersions="none")
    assert cost_of(probe, 0, "8a00").totals.defined == 1


def test_message_without_fields_has_no_cost() -> None:
    probe = message(flexibleVersions="none")
    assert cost_of(probe, 0, "") == Cost("Probe", 0, 1, (), Totals(0, 0, 0, 0, 0))


def test_totals_of_committed_vectors_match_their_bytes() -> None:
    samples: dict[tuple[str, int], list[CostSample]] = {}
    for path in sorted(COMMITTED.glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            entry = json.loads(line)
            sample = CostSample(bytes.fromhex(entry["hex"]), entry["version"])
            samples.setdefault((entry["message"], entry["version"]), []).append(sample)
    plans = {plan.name: plan for plan in definitions.load(ROOT / "specs" / "kafka").plans}
    for (name, version), each in samples.items():
        found = cost(plans[name], version, each)
        assert found.totals.defined == sum(len(sample.data) for sample in each)
        for form in FORMS:
            saved = sum(row.defined - getattr(row, form) for row in found.fields)
            assert getattr(found.totals, form) == found.totals.defined - saved
            assert found.totals.smallest <= getattr(found.totals, form)
    assert len(samples) > 700


# The proposal's formulas

VARIANTS: Sequence[tuple[Any, Any, Any]] = (
    (MetadataFixed, metadata_fixed.FixedTopic, metadata_fixed.FixedPartition),
    (MetadataPacked, metadata_packed.PackedTopic, metadata_packed.PackedPartition),
    (MetadataUpacked, metadata_upacked.UpackedTopic, metadata_upacked.UpackedPartition),
)


def sizes_of_partition(base: int, error_code: int, replicas: int, in_sync: int, offline: int) -> list[int]:
    """Return the bytes that one partition adds to the fixed, packed and upacked message."""
    sizes = []
    for make, topic, partition in VARIANTS:
        grown = partition(
            error_code=error_code,
            partition_index=base,
            leader_id=base,
            leader_epoch=base,
            replica_nodes=[base] * replicas,
            isr_nodes=[base] * in_sync,
            offline_replicas=[base] * offline,
        )
        sizes.append(make(topics=[topic(partitions=[grown])]).size(0) - make(topics=[topic()]).size(0))
    return sizes


@pytest.mark.parametrize("nodes", [(0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 2, 1), (126, 126, 126)])
@pytest.mark.parametrize("base", [0, 63])
def test_sizes_match_the_formulas_of_the_proposal(nodes: tuple[int, int, int], base: int) -> None:
    count = sum(nodes)
    assert sizes_of_partition(base, base, *nodes) == [17 + 4 * count + 1, 7 + count + 1, 7 + count + 1]


@pytest.mark.parametrize(
    ("base", "error_code", "sizes"),
    [
        (134_217_727, 255, [34, 2 + 7 * 4 + 3 + 1, 2 + 7 * 4 + 3 + 1]),
        (134_217_728, 256, [34, 2 + 7 * 5 + 3 + 1, 2 + 7 * 4 + 3 + 1]),
        (268_435_455, 8_192, [34, 3 + 7 * 5 + 3 + 1, 2 + 7 * 4 + 3 + 1]),
        (268_435_456, 16_384, [34, 3 + 7 * 5 + 3 + 1, 3 + 7 * 5 + 3 + 1]),
        (-1, -1, [34, 1 + 7 * 1 + 3 + 1, 3 + 7 * 5 + 3 + 1]),
    ],
)
def test_partition_sizes_at_varint_boundaries_are_exact(base: int, error_code: int, sizes: Sequence[int]) -> None:
    assert sizes_of_partition(base, error_code, 2, 2, 0) == sizes


# The histogram


def test_histogram_of_packed32_has_one_range_per_size() -> None:
    assert [astuple(each) for each in histogram(32, signed=True)] == [
        (-2147483648, -134217729, 5),
        (-134217728, -1048577, 4),
        (-1048576, -8193, 3),
        (-8192, -65, 2),
        (-64, 63, 1),
        (64, 8191, 2),
        (8192, 1048575, 3),
        (1048576, 134217727, 4),
        (134217728, 2147483647, 5),
    ]


def test_histogram_of_upacked32_has_one_range_per_size() -> None:
    assert [astuple(each) for each in histogram(32, signed=False)] == [
        (0, 127, 1),
        (128, 16383, 2),
        (16384, 2097151, 3),
        (2097152, 268435455, 4),
        (268435456, 4294967295, 5),
    ]


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("form", ["packed", "upacked"])
def test_size_ranges_agree_with_the_codec(form: str, bits: int) -> None:
    signed = form == "packed"
    ranges = histogram(bits, signed)
    lowest = -(1 << bits - 1) if signed else 0
    assert (ranges[0].lowest, ranges[-1].highest) == (lowest, lowest + (1 << bits) - 1)
    assert all(left.highest + 1 == right.lowest and left.bytes != right.bytes for left, right in pairwise(ranges))
    for each in ranges:
        for number in (each.lowest, each.highest):
            value = number if signed or number < 1 << bits - 1 else number - (1 << bits)
            assert each.bytes == encoded_size(form, bits, value) == ENCODINGS[f"{form}{bits}"].size_of(value)


@given(st.data())
def test_encoded_sizes_agree_with_the_codec(data: st.DataObject) -> None:
    bits = data.draw(st.sampled_from((16, 32, 64)))
    value = data.draw(st.integers(-(1 << bits - 1), (1 << bits - 1) - 1))
    for form in ("packed", "upacked"):
        assert encoded_size(form, bits, value) == ENCODINGS[f"{form}{bits}"].size_of(value)
    assert encoded_size("fixed", bits, value) == bits // 8


def test_out_of_range_value_or_encoding_raises_value_error() -> None:
    for arguments, reason in (
        (("packed", 16, 32768), "32768 does not fit into 16 bits"),
        (("fixed", 32, -2147483649), "-2147483649 does not fit into 32 bits"),
        (("zigzag", 32, 1), "unknown encoding 'zigzag'; expected one of fixed, packed, upacked"),
        (("packed", 8, 1), "an encoding must have 16, 32 or 64 bits, not 8"),
    ):
        with pytest.raises(ValueError, match=f"^{reason}$"):
            encoded_size(*arguments)
    with pytest.raises(ValueError, match=r"^an encoding must have 16, 32 or 64 bits, not 24$"):
        histogram(24, signed=True)


def test_invalid_arguments_raise_cost_error() -> None:
    plan = plan_of(PROBE)
    for version, samples, reason in (
        (9, [], "Probe has no version 9, only 0-3"),
        (2, [], "no samples of Probe version 2"),
        (2, [CostSample(b"", 1, "mine")], "mine: Probe v2: the sample is of version 1"),
        (2, [CostSample(b"", 2)], "sample: Probe v2: a: INT16: 2 bytes needed at offset 0, 0 left"),
    ):
        with pytest.raises(CostError) as caught:
            cost(plan, version, samples)
        assert str(caught.value) == reason
