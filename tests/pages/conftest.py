"""The site of Kafka's definitions, written once for all tests of pages, and its pages parsed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from kafka_message_generator import cli
from tests.support.markup import Parsed, parsed
from tests.support.pages import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole site; with its prose where the extra ``pages`` is installed."""
    folder = tmp_path_factory.mktemp("site")
    specs, samples = str(ROOT / "specs" / "kafka"), str(
        ROOT / "packages" / "vectors" / "src" / "kafka_protocol_vectors"
    )
    docs = ["--docs", str(ROOT)] if find_spec("mdit_py_plugins") else []
    assert cli.main(["pages", "--specs", specs, "--samples", samples, *docs, "--output", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def pages(site: Path) -> Mapping[str, Parsed]:
    """Each page by its path."""
    return {
        path.relative_to(site).as_posix(): parsed(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
    }
