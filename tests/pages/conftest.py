"""Fixtures: the site of Kafka's definitions, and its parsed pages; both are made once per session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_protocol_pages import cli
from tests.support.markup import Parsed, parsed
from tests.support.pages import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    specs, samples = str(ROOT / "specs" / "kafka"), str(
        ROOT / "packages" / "vectors" / "src" / "kafka_protocol_vectors"
    )
    assert cli.main(["--specs", specs, "--samples", samples, "--docs", str(ROOT), "--output", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def pages(site: Path) -> Mapping[str, Parsed]:
    return {
        path.relative_to(site).as_posix(): parsed(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
    }
