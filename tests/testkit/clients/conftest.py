"""Fixtures: driver processes of the clients, and a real broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.support.testkit_clients import Client

if TYPE_CHECKING:
    from tests.interop.broker import Broker

SETTINGS = "auto.create.topics.enable=true\nnum.partitions=2\ngroup.min.session.timeout.ms=100\n"


@pytest.fixture(scope="session")
def client() -> Iterator[Callable[[str], Client]]:
    """Return a function that starts the driver of a client once, or again if it has ended."""
    started: dict[str, Client] = {}
    with ExitStack() as stack:

        def start(name: str) -> Client:
            if name not in started or not started[name].is_running:
                started[name] = stack.enter_context(Client(name))
            return started[name]

        yield start


@pytest.fixture(scope="session")
def real_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Yield a broker of the pinned release, which creates topics of two partitions on request."""
    from tests.interop.broker import Node
    from tests.interop.kafka import ROOT, Java

    java = Java.of("kafka", ROOT / ".work" / "interop")
    with Node.formatted(java, tmp_path_factory.mktemp("broker"), settings=SETTINGS).running() as broker:
        yield broker
