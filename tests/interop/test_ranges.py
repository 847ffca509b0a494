"""The versions that the test kit's cluster announces for an older release."""

from __future__ import annotations

import os

import pytest

from tests.interop.kafka import MAVEN_SECONDS, Java, bounded
from tests.interop.make import WORK
from tests.interop.ranges import NEWEST, RELEASES, announced

SECONDS = 60


@pytest.mark.parametrize("release", [release for release in RELEASES if release != NEWEST])
def test_announced_versions_equal_those_of_the_release(release: str) -> None:
    folder = (WORK / f"clients-{release}").resolve()
    if not list(folder.glob("*.jar")):
        wanted = (f"-Dartifact=org.apache.kafka:kafka-clients:{release}", f"-DoutputDirectory={folder}")
        bounded(["mvn", "-q", "-B", "dependency:copy", *wanted], MAVEN_SECONDS)
    (jar,) = folder.glob("*.jar")
    java = Java(os.pathsep.join((str(jar), Java.prepare(WORK).classpath)))
    printed = [tuple(map(int, line.split())) for line in java.run("Ranges", seconds=SECONDS).splitlines()]
    found = {key: (lowest, highest) for key, lowest, highest in printed}
    ours = announced(release).api_keys
    assert {each.api_key: (each.min_version, each.max_version) for each in ours} == {
        each.api_key: found[each.api_key] for each in ours
    }
