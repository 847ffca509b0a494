"""The first tests of docs/testkit.md pass, with the three Python clients."""

from __future__ import annotations

import os
import re
import sys

import pytest

from tests.support import pages

pytestmark = pytest.mark.nightly
pytest_plugins = ["pytester"]
PAGE = "docs/testkit.md"
TESTS = [block.text for block in pages.blocks(PAGE) if "def test_commit_fails_once" in block.text]
CLIENTS = ("kafka", "aiokafka", "confluent_kafka")
"""Packages of the clients, in the order of the page."""


def test_page_has_a_test_for_each_client() -> None:
    assert [re.findall(r"^from (\w+) import \w*Consumer", each, re.MULTILINE) for each in TESTS] == [
        [name] for name in CLIENTS
    ]


@pytest.mark.parametrize("name", CLIENTS)
def test_first_test_passes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    test = pytester.makepyfile(TESTS[CLIENTS.index(name)])
    result = pytester.runpytest_subprocess("-p", "kafka_messages_testkit_plugin", "-p", "no:cacheprovider", test)
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("name", CLIENTS)
def test_first_test_fails_if_the_commit_does_not(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    text = TESTS[CLIENTS.index(name)].replace('group="billing"', 'group="other"')
    test = pytester.makepyfile(text)
    result = pytester.runpytest_subprocess("-p", "kafka_messages_testkit_plugin", "-p", "no:cacheprovider", test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*Failed: DID NOT RAISE*", "*- Kafka exchanges of kafka_cluster -*", "*OffsetCommit v*"]
    )
