"""Settings and hooks of all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support.proposals import PROPOSALS

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

PROPOSALS.install()
settings.register_profile("tests", deadline=None)  # how long a busy machine takes says nothing about the code
settings.load_profile("tests")


def pytest_sessionstart() -> None:
    """End a run with TESTS_NATIVE that would not use the native core: its tests would pass without testing it."""
    if os.environ.get("TESTS_NATIVE") != "1":
        return
    from kafka_messages import implementation

    if implementation() == "pure" or find_spec("kafka_messages_native._columns") is None:
        raise pytest.UsageError("TESTS_NATIVE is 1, but kafka-messages-native is not installed, or switched off")


def pytest_collection_finish() -> None:
    """Exclude the collected tests, millions of objects, from garbage collections, which many tests start."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Run all tests of the site in one worker, which writes the site once; other tests as with ``--dist loadfile``."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no type information
        def _split_scope(self, nodeid: str) -> str:
            return "tests/pages" if nodeid.startswith("tests/pages/") else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a test was skipped for a reason that the file in TESTS_SKIPS does not list."""
    listed = os.environ.get("TESTS_SKIPS")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not listed or reporter is None:
        return
    lines = Path(listed).read_text(encoding="utf-8").splitlines()
    allowed = tuple(line for line in lines if line and not line.startswith("#"))
    for where, reason in skipped(reporter.stats.get("skipped", [])):
        if not any(each in reason for each in allowed):
            reporter.write_line(f"{where}: skipped, and {listed} does not list the reason: {reason}", red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def skipped(reports: list[pytest.TestReport]) -> Iterator[tuple[str, str]]:
    """Yield the id and the reason of each skipped test."""
    for report in reports:
        if isinstance(report.longrepr, tuple):
            yield report.nodeid, report.longrepr[2].removeprefix("Skipped: ")
