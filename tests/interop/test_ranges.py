"""The versions that the mock broker announces as an older broker are those of that release."""

from __future__ import annotations

import os

import pytest

from tests.interop.kafka import MAVEN_SECONDS, Java, bounded
from tests.interop.make import WORK
from tests.interop.ranges import RELEASES

SECONDS = 60


@pytest.mark.parametrize("release", [release for release, highest in RELEASES.items() if highest])
def test_versions_of_a_release(release: str) -> None:
    """Asked of its own classes: a figure typed wrong would test clients against a broker that never was."""
    folder = (WORK / f"clients-{release}").resolve()
    if not list(folder.glob("*.jar")):
        wanted = (f"-Dartifact=org.apache.kafka:kafka-clients:{release}", f"-DoutputDirectory={folder}")
        bounded(["mvn", "-q", "-B", "dependency:copy", *wanted], MAVEN_SECONDS)
    (jar,) = folder.glob("*.jar")
    java = Java(os.pathsep.join((str(jar), Java.prepare(WORK).classpath)))
    said = [tuple(map(int, line.split())) for line in java.run("Ranges", seconds=SECONDS).splitlines()]
    found = {key: (lowest, highest) for key, lowest, highest in said}
    expected = RELEASES[release]
    assert expected is not None
    assert {int(key): (0, highest) for key, highest in expected.items()} == {int(key): found[key] for key in expected}
