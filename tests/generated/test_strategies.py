"""Hypothesis strategies: encodable messages, shrinking, and reproducible damage."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from kafka_messages import DecodeError, MetadataResponse, UnsupportedVersionError
from kafka_messages.enums import ErrorCode
from kafka_messages.testing import damaged, damaged_bytes, encodings, messages, random_messages, versions

from tests.support.random_messages import PACKAGES, Package

NAMES = [(package, name) for package in map(Package, PACKAGES) for name in package.message_names]
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FIND = settings(QUICK, max_examples=2000, database=None, phases=[Phase.generate])
"""Settings to find one example without shrinking."""


@QUICK
@given(st.sampled_from(NAMES), st.data())
def test_any_message_at_any_version_round_trips(case: tuple[Package, str], data: st.DataObject) -> None:
    package, name = case
    cls, public = package.message(name), package.module("testing")
    version = data.draw(public.versions(cls))
    message = data.draw(public.messages(cls, version))
    written = message.write(version)
    assert len(written) == message.size(version)
    assert cls.read(written, version).write(version) == written


@pytest.mark.parametrize("seed", [0, 16, 29])
def test_failures_shrink_to_a_minimal_message(seed: int) -> None:
    found = find(
        messages(MetadataResponse, 12),
        lambda response: bool(response.topics),
        settings=settings(QUICK, database=None),
        random=random.Random(seed),
    )
    assert len(found.topics) == 1
    assert (list(found.brokers), found.cluster_id, found.unknown_tagged_fields) == ([], None, ())


@pytest.mark.parametrize("wanted", ["nulls", "tags", "twins", "controller"])
def test_documented_special_values_are_generated(wanted: str) -> None:
    def occurs(response: MetadataResponse) -> bool:
        names = [topic.name for topic in response.topics]
        return {
            "nulls": response.cluster_id is None and bool(names),
            "tags": any(topic.unknown_tagged_fields for topic in response.topics),
            "twins": len({*names}) < len(names),
            "controller": response.controller_id == (1 << 31) - 1,
        }[wanted]

    find(messages(MetadataResponse, 12), occurs, settings=FIND)


@QUICK
@given(messages(MetadataResponse, 12, unknown_tagged_fields=False), messages(MetadataResponse, 0))
def test_fields_missing_in_the_version_have_defaults(plain: MetadataResponse, old: MetadataResponse) -> None:
    assert plain.unknown_tagged_fields == () == old.unknown_tagged_fields
    assert all(topic.unknown_tagged_fields == () for topic in plain.topics)
    assert (old.cluster_id, old.controller_id, old.throttle_time_ms) == (None, -1, 0)


@QUICK
@given(damaged_bytes(MetadataResponse, 12))
def test_damaged_bytes_raise_decode_error_or_are_read(data: bytes) -> None:
    try:
        MetadataResponse.read(data, 12)
    except DecodeError as error:
        refused = str(error)
    else:
        return
    assert refused.startswith("MetadataResponse v12: ")


@QUICK
@given(encodings(MetadataResponse, 12), st.integers(0, 1000))
def test_damage_is_reproducible_by_seed(data: bytes, seed: int) -> None:
    assert damaged(random.Random(seed), data) == damaged(random.Random(seed), data)


@pytest.mark.parametrize(
    "strategy", [messages, encodings, damaged_bytes, lambda cls, version: list(random_messages(cls, version))]
)
def test_unsupported_version_is_rejected(strategy: object) -> None:
    assert callable(strategy)
    with pytest.raises(UnsupportedVersionError) as caught:
        strategy(MetadataResponse, 99)
    assert str(caught.value) == "MetadataResponse has no version 99, only versions 0 to 13"
    assert find(versions(MetadataResponse), lambda version: version > 12) == 13


def test_strategies_without_hypothesis_raise_import_error() -> None:
    script = """
import sys
sys.modules["hypothesis"] = None
from kafka_messages import MetadataResponse
from kafka_messages.enums import ErrorCode
from kafka_messages.testing import random_messages
print(sum(1 for message in random_messages(MetadataResponse, 12)))
try:
    from kafka_messages.testing import messages
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    needs = "the strategies of kafka_messages.testing require the package hypothesis, which is not installed"
    assert (done.stdout, done.stderr) == (f"5\n{needs}; install the extra `testing`\n", "")


def test_enum_members_occur_in_drawn_messages() -> None:
    drawn = [
        topic.error_code
        for seed in range(60)
        for each in random_messages(MetadataResponse, 12, seed)
        for topic in each.topics
    ]
    members = [code for code in drawn if isinstance(code, ErrorCode)]
    assert 0 < len(members) < len(drawn) / 2
    find(
        messages(MetadataResponse, 13),
        lambda each: isinstance(each.error_code, ErrorCode),
        settings=FIND,
    )


@pytest.mark.parametrize("strategy", [messages, encodings, damaged_bytes, lambda given, _: versions(given)])
def test_strategies_reject_non_classes(strategy: Callable[..., object]) -> None:
    for wrong in ("HeartbeatRequest", None):
        with pytest.raises(TypeError) as raised:
            strategy(wrong, 4)
        assert str(raised.value) == f"expected a message class, got {wrong!r}"
